// Table: the small project that `rerail demo` lets an agent fix. Its bug is a real one: see src/shipping.js.

/** By path. */
export const demoProject: Readonly<Record<string, string>> = {
  'package.json': `{
  "name": "corner-shop",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  'src/shipping.js': `const freeFromCents = 5000;
const standardCents = 490;

/** What shipping costs for goods of this value: nothing from 50.00 on. */
export function shippingCents(goodsCents) {
  if (goodsCents === 0) return 0;
  return goodsCents > freeFromCents ? 0 : standardCents;
}
`,
  'src/cart.js': `import { shippingCents } from './shipping.js';

/** The sum of a cart without shipping. */
export function goodsCents(lines) {
  return lines.reduce((sum, line) => sum + line.priceCents * line.quantity, 0);
}

/** What the customer pays. */
export function totalCents(lines) {
  const goods = goodsCents(lines);
  return goods + shippingCents(goods);
}
`,
  'src/money.js': `/** 12345 as '123.45'. */
export function formatCents(cents) {
  return (cents / 100).toFixed(2);
}
`,
  'test/cart.test.js': `import { test } from 'node:test';
import assert from 'node:assert/strict';
import { goodsCents, totalCents } from '../src/cart.js';

test('adds up the goods', () => {
  const lines = [{ priceCents: 1250, quantity: 2 }, { priceCents: 300, quantity: 1 }];
  assert.equal(goodsCents(lines), 2800);
});

test('adds shipping to a small order', () => {
  assert.equal(totalCents([{ priceCents: 1250, quantity: 2 }]), 2990);
});

test('ships an order of exactly 50.00 for nothing', () => {
  assert.equal(totalCents([{ priceCents: 5000, quantity: 1 }]), 5000);
});

test('ships a large order for nothing', () => {
  assert.equal(totalCents([{ priceCents: 4000, quantity: 2 }]), 8000);
});

test('costs nothing when the cart is empty', () => {
  assert.equal(totalCents([]), 0);
});
`,
  'test/money.test.js': `import { test } from 'node:test';
import assert from 'node:assert/strict';
import { formatCents } from '../src/money.js';

test('shows two digits', () => {
  assert.equal(formatCents(12345), '123.45');
  assert.equal(formatCents(500), '5.00');
});
`,
};

/** What the agent is asked. */
export const demoPrompt = 'The tests fail (node --test). Find out why and fix it.';
export const demoTestCommand = 'node --test';
