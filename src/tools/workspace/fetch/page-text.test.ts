import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageText } from './page-text.ts';

const address = new URL('https://example.com/docs/page');
const text = (html: string): string => pageText(html, address);

describe('pageText()', () => {
  it.each([
    { what: 'scripts', html: 'a<script>if (1 < 2) document.write("<p>no</p>")</script>b', shown: 'ab' },
    { what: 'styles', html: '<style>p > a { color: red }</style>b', shown: 'b' },
    { what: 'scripts that close themselves', html: '<script src=x/>alert(1)</script>b', shown: 'b' },
    { what: 'comments', html: 'a<!-- <p>no</p> -->b', shown: 'ab' },
    {
      what: 'templates and drawings',
      html: 'a<template><p>no</p></template><svg><text>no</text></svg>b',
      shown: 'ab',
    },
    { what: 'hidden parts', html: 'a<div hidden>no<div>no</div>no</div>b', shown: 'ab' },
    {
      what: 'parts with a style that hides',
      html: 'a<span style="color:red; display : none">no</span>b',
      shown: 'ab',
    },
    { what: 'addresses that run something', html: '<a href="javascript:alert(1)">click</a>', shown: 'click' },
    { what: 'an unclosed script', html: 'a<script>no', shown: 'a' },
    { what: 'an unclosed comment', html: 'a<!-- no', shown: 'a' },
    { what: 'an unclosed tag', html: 'a<div class="no', shown: 'a' },
    { what: 'the document type', html: '<!DOCTYPE html><?xml version="1.0"?>a', shown: 'a' },
  ])('leaves out $what', ({ html, shown }) => {
    expect(text(html)).toBe(shown);
  });

  it.each([
    {
      what: 'a title',
      html: '<head><title>The\n page &amp; more</title></head><p>a',
      shown: 'Title: The page & more\n\na',
    },
    { what: 'headings', html: '<h1>One</h1><h3>Three</h3>x', shown: '# One\n\n### Three\n\nx' },
    { what: 'paragraphs', html: '<p>a\n  b</p>\n<p>c', shown: 'a b\n\nc' },
    { what: 'line breaks', html: 'a<br>b<br/>c', shown: 'a\nb\nc' },
    { what: 'lists', html: '<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e', shown: '- a\n- b\n  - c\n- d\n\ne' },
    { what: 'numbered lists', html: '<ol start=3><li>a</li><li>b</li></ol>', shown: '3. a\n4. b' },
    {
      what: 'tables',
      html: '<table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></tr></table>',
      shown: 'a | b\n1 | 2',
    },
    {
      what: 'links',
      html: 'See <a href="../x?a=1&amp;b=2">the <b>x</b></a>, now',
      shown: 'See the x (https://example.com/x?a=1&b=2), now',
    },
    {
      what: 'links that say where they lead',
      html: '<a href="https://a.test/">https://a.test/</a>',
      shown: 'https://a.test/',
    },
    { what: 'links within the page', html: '<a href="#top">top</a>', shown: 'top' },
    {
      what: 'two links',
      html: '<a href=/a>a</a> <a href=/b>b</a>',
      shown: 'a (https://example.com/a) b (https://example.com/b)',
    },
    {
      what: 'text as it was laid out',
      html: '<pre>  a\n    b &lt;c&gt;\n</pre>d',
      shown: 'a\n    b <c>\n\nd',
    },
    { what: 'images by their words', html: 'a <img src=x alt="a cat"> b', shown: 'a [image: a cat] b' },
    {
      what: 'signs written as names and numbers',
      html: '&lt;&#65;&#x42;&nbsp;&copy;&unknown;&#0;&#xD800;&amp;lt; AT&T',
      shown: '<AB ©&unknown;��&lt; AT&T',
    },
    { what: 'a sign that begins no tag', html: '1 < 2 <3', shown: '1 < 2 <3' },
    { what: 'rules', html: 'a<hr>b', shown: 'a\n\n---\n\nb' },
    {
      what: 'what the page says to readers without scripts',
      html: '<noscript>turn it on</noscript>',
      shown: 'turn it on',
    },
    { what: 'words inside of words', html: 'un<b>believ</b>able', shown: 'unbelievable' },
    { what: 'capital tags', html: '<P>a</P><SCRIPT>no</SCRIPT>', shown: 'a' },
    { what: 'nothing', html: '', shown: '' },
  ])('shows $what', ({ html, shown }) => {
    expect(text(html)).toBe(shown);
  });

  it.each([
    { what: 'tags that never end', html: '<a '.repeat(600_000) },
    { what: 'quotes that never end', html: '<a b="'.repeat(300_000) },
    { what: 'a million open tags', html: '<div>'.repeat(400_000) },
    { what: 'a million open links', html: '<a href=x>y'.repeat(180_000) },
    { what: 'a million lists in lists', html: '<ul><li>'.repeat(250_000) },
    { what: 'one line of many links', html: '<a href=/a>y</a> '.repeat(120_000) },
    { what: 'one line of many cells', html: 'a<td>'.repeat(400_000) },
    { what: 'open scripts', html: '<script>'.repeat(250_000) },
    { what: 'blanks', html: ' '.repeat(2_000_000) },
    { what: 'blanks in a tag', html: `<a${' '.repeat(2_000_000)}` },
    { what: 'ampersands', html: '&'.repeat(2_000_000) },
    { what: 'laid out text of one line', html: `<pre>${'a<b>'.repeat(500_000)}` },
    { what: 'hidden parts in hidden parts', html: '<div hidden>'.repeat(160_000) },
  ])('takes time that grows with the page for $what', ({ html }) => {
    // The square of any of these would take minutes.
    expect(text(html).length).toBeLessThan(10_000_000);
  });

  it('never throws, whatever a page holds', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      ' ',
      'a',
      'pre',
      'ul',
      'li',
      'title',
      '<!--',
      '-->',
      '&',
      '#',
      ';',
      '\n',
      'hidden',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(typeof text(pieces.join(''))).toBe('string');
      }),
      { seed: 5, numRuns: 3000 },
    );
  });
});
