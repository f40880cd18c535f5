function charge() {
  throw new TypeError('Cannot read properties of undefined');
}
export const pay = () => charge();
