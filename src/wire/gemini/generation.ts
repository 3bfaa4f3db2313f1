// Which generation a Gemini model belongs to. Generations differ in how thinking is configured, and in which of their
// own thoughts a conversation must bring back.

/** 2 for gemini-2.5-flash, 3 for gemini-3.1-pro-preview; 0 when the name does not show it. */
export function generationOf(model: string): number {
  return Number(/(?:^|\/)gemini-(\d+)/.exec(model)?.[1] ?? 0)
}
