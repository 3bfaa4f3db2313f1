// Several keys of one provider account share its limits: requests take turns among them.

export function takeTurns(keys: readonly string[]): () => string | undefined {
  let turn = 0
  return () => keys[turn++ % keys.length]
}
