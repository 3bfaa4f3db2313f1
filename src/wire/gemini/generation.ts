// Which generation a Gemini model belongs to: they differ in how they are told to think, and in what they demand of
// their own thoughts in a conversation.

/** 2 for gemini-2.5-flash, 3 for gemini-3.1-pro-preview; 0 for names that do not say. */
export function generationOf(model: string): number {
  return Number(/(?:^|\/)gemini-(\d+)/.exec(model)?.[1] ?? 0)
}
