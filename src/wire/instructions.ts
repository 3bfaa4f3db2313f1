// Instructions in words, for formats that have no other place for them.

/** For formats without a JSON mode. */
export const JSON_ONLY =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence.'

/** One that stands between turns, for formats that take instructions only before them: told in the user's turn. */
export function lateInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
