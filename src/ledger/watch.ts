// Tells which nodes have died, from their heartbeats and our own monotonic clock alone. Pure. Being wrong is safe: a
// fenced node can grant nothing and settles late; it only costs others the wait and the books a correction.

export type Beat = { readonly nodeId: number; readonly beats: number }

export class Watch {
  readonly #deadAfterMs: number
  readonly #seen = new Map<number, { readonly beats: number; readonly since: number }>()
  #lookedAt = -Infinity

  constructor(deadAfterMs: number) {
    this.#deadAfterMs = deadAfterMs
  }

  /** Takes what the database shows now; returns the nodes that have not beaten for too long while we were looking. */
  look(monotonicMs: number, beats: readonly Beat[]): readonly number[] {
    // After a pause of ours, or an outage of the database, everyone looks silent and nobody is known to be.
    if (monotonicMs - this.#lookedAt > this.#deadAfterMs / 2) this.#seen.clear()
    this.#lookedAt = monotonicMs
    const dead: number[] = []
    for (const { nodeId, beats: count } of beats) {
      const seen = this.#seen.get(nodeId)
      if (seen === undefined || seen.beats !== count) {
        this.#seen.set(nodeId, { beats: count, since: monotonicMs })
      } else if (monotonicMs - seen.since >= this.#deadAfterMs) {
        this.#seen.delete(nodeId)
        dead.push(nodeId)
      }
    }
    return dead
  }
}
