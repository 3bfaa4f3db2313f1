// Drops an answer that will not be read: left alone, it would hold its connection until a timeout ends it.
import type { UpstreamAnswer } from './provider.ts'

export async function discard({ body }: UpstreamAnswer): Promise<void> {
  try {
    for await (const _ of body) break
  } catch {
    // The answer is not needed, so its failure does not matter.
  }
}
