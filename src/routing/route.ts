// Which targets a request goes to, in order. Traffic splits by weight and a conversation stays on one target, because
// both follow from one number: each target's lot for this conversation, drawn by hashing (weighted rendezvous).
import { createHash } from 'node:crypto'

import type { Model, Target } from '../catalog/models.ts'

export function route(model: Model, affinity: string): readonly Target[] {
  const { targets, fallbacks } = model
  if (targets.length < 2) return fallbacks.length === 0 ? targets : [...targets, ...fallbacks]
  const lots = targets.map((target) => ({ target, lot: lotOf(target, affinity) }))
  lots.sort((one, other) => one.lot - other.lot)
  return [...lots.map(({ target }) => target), ...fallbacks]
}

/** Exponentially distributed with the weight as its rate: the smallest lot falls on each target by its weight. */
function lotOf(target: Target, affinity: string): number {
  const digest = createHash('sha256')
    .update(`${target.provider}/${target.model}\0${affinity}`)
    .digest()
  const fraction = (digest.readUInt32BE(0) + 1) / 2 ** 32
  return -Math.log(fraction) / target.weight
}
