// An instruction that stands between turns, for formats that have a place for instructions only before them: it is told
// in the user's turn, marked as what it is.

export function lateInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
