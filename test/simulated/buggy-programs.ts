// Table: small programs with one mistake each, for the tests of the embedded model.

/** A program that its tests find fault with. */
export interface BuggyProgram {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** A part of the line that should stand there in the end. */
  readonly mended: string;
}

const head = (imports: string): string =>
  `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n${imports}\n\n`;

export const buggyPrograms: readonly BuggyProgram[] = [
  {
    name: 'a wrong operator',
    files: {
      'src/area.js': `export function perimeter(width, height) {\n  return 2 * (width - height);\n}\n\nexport function area(width, height) {\n  return width * height;\n}\n`,
      'test/area.test.js': `${head("import { area, perimeter } from '../src/area.js';")}test('perimeter', () => {\n  assert.equal(perimeter(3, 2), 10);\n});\n\ntest('area', () => {\n  assert.equal(area(3, 2), 6);\n});\n`,
    },
    mended: 'width + height',
  },
  {
    name: 'a comparison that leaves out its boundary',
    files: {
      'lib/age.js': `const adult = 18;\n\nexport function mayVote(age) {\n  return age > adult;\n}\n`,
      'test/age.test.js': `${head("import { mayVote } from '../lib/age.js';")}test('votes at 18', () => {\n  assert.equal(mayVote(18), true);\n});\n\ntest('does not vote at 17', () => {\n  assert.equal(mayVote(17), false);\n});\n`,
    },
    mended: 'age >= adult',
  },
  {
    name: 'a loop that stops one too early',
    files: {
      'sum.js': `export function sum(numbers) {\n  let total = 0;\n  for (let i = 0; i < numbers.length - 1; i++) {\n    total += numbers[i];\n  }\n  return total;\n}\n`,
      'sum.test.js': `${head("import { sum } from './sum.js';")}test('adds everything', () => {\n  assert.equal(sum([1, 2, 3]), 6);\n});\n\ntest('adds nothing', () => {\n  assert.equal(sum([]), 0);\n});\n`,
    },
    mended: 'i < numbers.length;',
  },
  {
    name: 'an index beyond the end',
    files: {
      'src/last.js': `export function lastName(people) {\n  const last = people[people.length];\n  return last.name;\n}\n`,
      'test/last.test.js': `${head("import { lastName } from '../src/last.js';")}test('the last one', () => {\n  assert.equal(lastName([{ name: 'Ada' }, { name: 'Bob' }]), 'Bob');\n});\n`,
    },
    mended: 'people.length - 1',
  },
  {
    name: 'a missing await',
    files: {
      'src/users.js': `const users = new Map([[7, { name: 'Ada' }]]);\n\nasync function findUser(id) {\n  return users.get(id);\n}\n\nexport async function greet(id) {\n  const user = findUser(id);\n  return \`Hello \${user.name}\`;\n}\n`,
      'test/users.test.js': `${head("import { greet } from '../src/users.js';")}test('greets by name', async () => {\n  assert.equal(await greet(7), 'Hello Ada');\n});\n`,
    },
    mended: 'await findUser(id)',
  },
  {
    name: 'a missing return',
    files: {
      'src/slug.js': `export function slug(title) {\n  const plain = title.trim().toLowerCase();\n  plain.replaceAll(' ', '-');\n}\n`,
      'test/slug.test.js': `${head("import { slug } from '../src/slug.js';")}test('makes a slug', () => {\n  assert.equal(slug(' Hello World '), 'hello-world');\n});\n`,
    },
    mended: 'return plain',
  },
  {
    name: 'the wrong variable',
    files: {
      'src/clamp.js': `export function clamp(value, low, high) {\n  if (value < low) return low;\n  if (value > high) return low;\n  return value;\n}\n`,
      'test/clamp.test.js': `${head("import { clamp } from '../src/clamp.js';")}test('from above', () => {\n  assert.equal(clamp(12, 1, 10), 10);\n});\n\ntest('from below', () => {\n  assert.equal(clamp(-3, 1, 10), 1);\n});\n\ntest('between', () => {\n  assert.equal(clamp(5, 1, 10), 5);\n});\n`,
    },
    mended: 'if (value > high) return high',
  },
  {
    name: 'the wrong property',
    files: {
      'src/invoice.js': `export function total(items) {\n  return items.reduce((sum, item) => sum + item.price * item.count, 0);\n}\n`,
      'test/invoice.test.js': `${head("import { total } from '../src/invoice.js';")}test('adds up', () => {\n  const items = [{ price: 5, quantity: 2 }, { price: 3, quantity: 1 }];\n  assert.equal(total(items), 13);\n});\n`,
    },
    mended: 'item.quantity',
  },
  {
    name: 'a wrong constant',
    files: {
      'src/time.js': `const secondsPerHour = 360;\n\nexport function hours(seconds) {\n  return seconds / secondsPerHour;\n}\n`,
      'test/time.test.js': `${head("import { hours } from '../src/time.js';")}test('two hours', () => {\n  assert.equal(hours(7200), 2);\n});\n`,
    },
    mended: 'secondsPerHour = 3600',
  },
  {
    name: 'a list sorted the wrong way round',
    files: {
      'src/top.js': `export function best(players) {\n  return players.toSorted((a, b) => a.points - b.points).map(({ name }) => name);\n}\n`,
      'test/top.test.js': `${head("import { best } from '../src/top.js';")}test('the best comes first', () => {\n  const players = [{ name: 'Ada', points: 3 }, { name: 'Bob', points: 9 }];\n  assert.deepEqual(best(players), ['Bob', 'Ada']);\n});\n`,
    },
    mended: 'b.points - a.points',
  },
  {
    name: 'the wrong method, two files away',
    files: {
      'src/round.js': `export function toCents(amount) {\n  return Math.floor(amount * 100);\n}\n\nexport function toEuros(cents) {\n  return cents / 100;\n}\n`,
      'src/price.js': `import { toCents, toEuros } from './round.js';\n\nexport function withTax(amount, rate) {\n  return toCents(amount * (1 + rate));\n}\n\nexport function show(cents) {\n  return toEuros(cents).toFixed(2);\n}\n`,
      'test/price.test.js': `${head("import { show, withTax } from '../src/price.js';")}test('adds the tax and rounds', () => {\n  assert.equal(withTax(9.99, 0.19), 1189);\n});\n\ntest('shows two digits', () => {\n  assert.equal(show(150), '1.50');\n});\n`,
    },
    mended: 'Math.round',
  },
  {
    name: 'conditions joined wrongly',
    files: {
      'src/access.js': `export function mayEnter({ hasTicket, isMember }) {\n  return hasTicket && isMember;\n}\n`,
      'test/access.test.js': `${head("import { mayEnter } from '../src/access.js';")}test('with a ticket', () => {\n  assert.equal(mayEnter({ hasTicket: true, isMember: false }), true);\n});\n\ntest('with nothing', () => {\n  assert.equal(mayEnter({ hasTicket: false, isMember: false }), false);\n});\n`,
    },
    mended: 'hasTicket || isMember',
  },
  {
    name: 'a text that differs',
    files: {
      'src/list.js': `export function enumerate(names) {\n  return names.join(',');\n}\n`,
      'test/list.test.js': `${head("import { enumerate } from '../src/list.js';")}test('puts blanks between', () => {\n  assert.equal(enumerate(['a', 'b']), 'a, b');\n});\n`,
    },
    mended: "join(', ')",
  },
  {
    name: 'a name that does not exist',
    files: {
      'src/mean.js': `export function mean(values) {\n  const total = values.reduce((sum, value) => sum + value, 0);\n  return totl / values.length;\n}\n`,
      'test/mean.test.js': `${head("import { mean } from '../src/mean.js';")}test('the mean', () => {\n  assert.equal(mean([2, 4]), 3);\n});\n`,
    },
    mended: 'return total',
  },
  {
    name: 'a check that lets bad values pass',
    files: {
      'src/account.js': `export function withdraw(balance, amount) {\n  if (amount < balance) throw new RangeError('Not enough money');\n  return balance - amount;\n}\n`,
      'test/account.test.js': `${head("import { withdraw } from '../src/account.js';")}test('refuses more than there is', () => {\n  assert.throws(() => withdraw(10, 11), RangeError);\n});\n\ntest('gives what there is', () => {\n  assert.equal(withdraw(10, 4), 6);\n});\n`,
    },
    mended: 'amount > balance',
  },
  {
    name: 'two mistakes',
    files: {
      'src/temperature.js': `export function toFahrenheit(celsius) {\n  return celsius * 1.8 - 32;\n}\n\nexport function isFreezing(celsius) {\n  return celsius < 0;\n}\n`,
      'test/temperature.test.js': `${head("import { isFreezing, toFahrenheit } from '../src/temperature.js';")}test('boils at 212', () => {\n  assert.equal(toFahrenheit(100), 212);\n});\n\ntest('freezes at 0', () => {\n  assert.equal(isFreezing(0), true);\n});\n`,
    },
    mended: 'celsius <= 0',
  },
  {
    name: 'a number of things that is one too small',
    files: {
      'src/range.js': `export function range(from, to) {\n  return Array.from({ length: to - from }, (_value, index) => from + index);\n}\n`,
      'test/range.test.js': `${head("import { range } from '../src/range.js';")}test('has both ends', () => {\n  assert.deepEqual(range(2, 5), [2, 3, 4, 5]);\n});\n`,
    },
    mended: 'to - from + 1',
  },
  {
    name: 'a zero taken for nothing',
    files: {
      'src/options.js': `export function retries(options) {\n  return options.retries || 3;\n}\n`,
      'test/options.test.js': `${head("import { retries } from '../src/options.js';")}test('none', () => {\n  assert.equal(retries({ retries: 0 }), 0);\n});\n\ntest('three unless told', () => {\n  assert.equal(retries({}), 3);\n});\n`,
    },
    mended: '?? 3',
  },
  {
    name: 'the two sides of a choice',
    files: {
      'src/greet.js': `export function greet(name, isFormal) {\n  return isFormal ? \`Hello \${name}\` : \`Good day, \${name}\`;\n}\n`,
      'test/greet.test.js': `${head("import { greet } from '../src/greet.js';")}test('formal', () => {\n  assert.equal(greet('Ada', true), 'Good day, Ada');\n});\n\ntest('friendly', () => {\n  assert.equal(greet('Ada', false), 'Hello Ada');\n});\n`,
    },
    mended: '!isFormal',
  },
];
