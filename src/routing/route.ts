// Which targets a request goes to, in order. Traffic splits by weight and a conversation stays on one target, because
// both follow from one number: each target's lot for this conversation, drawn by hashing (weighted rendezvous).
import { createHash } from 'node:crypto'

import { targetName } from '../catalog/models.ts'
import type { Model, Target } from '../catalog/models.ts'
import { SENTENCES } from '../core/sentences.ts'

export type Choice = {
  readonly target: Target
  readonly role: 'target' | 'fallback'
  /** Why the target has this place, for later explanation. */
  readonly why: string
}

/** Requests with the same affinity go the same way. Read only if there is more than one target. */
export type Routed = { readonly affinity: string }

export function route(
  { targets, fallbacks }: Pick<Model, 'targets' | 'fallbacks'>,
  request: Routed,
): readonly Choice[] {
  const why = targets.length === 1 ? SENTENCES.target_only : SENTENCES.target_by_weight
  return [
    ...byLot(targets, request).map((target): Choice => ({ target, role: 'target', why })),
    ...fallbacks.map((target): Choice => ({
      target,
      role: 'fallback',
      why: SENTENCES.target_fallback,
    })),
  ]
}

function byLot(targets: readonly Target[], request: Routed): readonly Target[] {
  if (targets.length < 2) return targets
  const { affinity } = request
  return targets
    .map((target) => ({ target, lot: lotOf(target, affinity) }))
    .sort((one, other) => one.lot - other.lot)
    .map(({ target }) => target)
}

/** Exponentially distributed with the weight as its rate: targets draw the smallest lot in proportion to weight. */
function lotOf(target: Target, affinity: string): number {
  const digest = createHash('sha256')
    .update(`${targetName(target.provider, target.model)}\0${affinity}`)
    .digest()
  const fraction = (digest.readUInt32BE(0) + 1) / 2 ** 32
  return -Math.log(fraction) / target.weight
}
