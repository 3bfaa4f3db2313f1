// Tells which nodes have died, from their heartbeats and this node's monotonic clock alone. Pure. Being wrong is safe:
// a fenced node can grant nothing and settles late, which only costs others a wait and the books a correction.

export type Beat = { readonly nodeId: number; readonly beats: number }

export class FailureDetector {
  readonly #deadAfterMs: number
  readonly #seen = new Map<number, { readonly beats: number; readonly since: number }>()
  #lookedAt = -Infinity

  constructor(deadAfterMs: number) {
    this.#deadAfterMs = deadAfterMs
  }

  /** Takes the beats that the database shows now; returns the nodes that have been seen silent for too long. */
  look(monotonicMs: number, beats: readonly Beat[]): readonly number[] {
    // After a pause of this process or an outage of the database, every node looks silent, and none is known to be.
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
