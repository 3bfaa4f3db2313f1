// Lets go of an answer that nobody will read: left alone, it would keep its connection until a time limit ends it.
import type { UpstreamAnswer } from './provider.ts'

export async function discard({ body }: UpstreamAnswer): Promise<void> {
  try {
    for await (const _ of body) break
  } catch {
    // It was not wanted anyway.
  }
}
