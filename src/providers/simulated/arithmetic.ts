const maxExpressionLength = 200;
const maxDepth = 20;

/** Finds the sum in a sentence: `what is 12 * (7 + 3)?`. */
export function findExpression(text: string): string | undefined {
  const plain = text
    .slice(0, maxExpressionLength * 4)
    .replaceAll(/\bplus\b/gi, '+')
    .replaceAll(/\bminus\b/gi, '-')
    .replaceAll(/\b(?:times|multiplied by)\b/gi, '*')
    .replaceAll(/\bdivided by\b/gi, '/')
    .replaceAll('×', '*')
    .replaceAll('÷', '/');
  const found = plain
    .match(/[\d.()+\-*/ ]{3,}/g)
    ?.map((part) => part.trim())
    .find((part) => part.length <= maxExpressionLength && /\d\s*[+*/-]\s*[\d(-]/.test(part));
  // A date, a version and a telephone number are no sums.
  return found === undefined || /^\d+(?:-\d+){2,}$/.test(found) ? undefined : found;
}

/** What a sum comes to, or nothing where it is none or has no finite value. Understands + - * / and brackets. */
export function evaluate(expression: string): number | undefined {
  const tokens = expression.match(/\d+(?:\.\d+)?|[()+\-*/]|\S/g) ?? [];
  let position = 0;

  function sum(depth: number): number {
    let value = product(depth);
    while (tokens[position] === '+' || tokens[position] === '-') {
      // Bounded: each round takes a token.
      const sign = tokens[position] === '+' ? 1 : -1;
      position += 1;
      value += sign * product(depth);
    }
    return value;
  }

  function product(depth: number): number {
    let value = factor(depth);
    while (tokens[position] === '*' || tokens[position] === '/') {
      const isTimes = tokens[position] === '*';
      position += 1;
      const right = factor(depth);
      value = isTimes ? value * right : value / right;
    }
    return value;
  }

  function factor(depth: number): number {
    const token = tokens[position];
    position += 1;
    if (token === undefined || depth > maxDepth) return Number.NaN;
    if (token === '-') return -factor(depth + 1);
    if (token !== '(') return Number(token);
    const value = sum(depth + 1);
    const isClosed = tokens[position] === ')';
    position += 1;
    return isClosed ? value : Number.NaN;
  }

  const value = sum(0);
  if (position < tokens.length || !Number.isFinite(value)) return undefined;
  // Without the dust of binary fractions: 0.1 + 0.2 is 0.3 to a person.
  return Number(value.toPrecision(12));
}
