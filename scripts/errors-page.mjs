// docs/errors.md, made from the tables.
import { codeTexts } from '../dist/errors/code-texts.js';
import { exitCodes, failureCodes, failureTraits } from '../dist/errors/codes.js';

/** @typedef {keyof typeof failureTraits} Code */

export function errorsPage() {
  return `<!-- Made by \`npm run docs\` from src/errors/codes.ts and src/errors/code-texts.ts. Do not edit. -->

# Failure codes

Every failure has one of these codes. The list is closed: a code enters it together with the code that produces it and a
test that provokes it. \`retryable\` is the default; a failure knows better where its source does, so read
\`failure.retryable\`. The severity follows from it: what is retryable is always \`retriable\`.

| code | arises in | retryable | severity | HTTP status | exit code |
|---|---|---|---|---|---|
${failureCodes.map(tableRow).join('\n')}

Exit codes: ${Object.entries(exitCodes)
    .map(([kind, code]) => `${code} ${kind}`)
    .join(' · ')}.

${failureCodes.map(section).join('\n')}`;
}

/** @param {Code} code */
function tableRow(code) {
  const traits = failureTraits[code];
  const where = traits.origins.length > 9 ? 'everywhere' : traits.origins.join(' ');
  const anchor = code.toLowerCase();
  return `| [\`${code}\`](#${anchor}) | ${where} | ${traits.retryable ? 'yes' : 'no'} | ${traits.retryable ? 'retriable' : traits.severity} | ${traits.httpStatus} | ${traits.exitCode} |`;
}

/** @param {Code} code */
function section(code) {
  const { forDeveloper, forPerson, forModel } = codeTexts[code];
  return `## ${code}

${forDeveloper}

- A person reads: ${forPerson.what} ${forPerson.next}
- The model reads: ${forModel}
`;
}
