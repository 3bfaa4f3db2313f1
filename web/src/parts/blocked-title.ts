// The title of a verdict that blocks the call: while some budget remains, a shorter call might pass.
import type { Verdict } from '../../../src/admin/contract/calls.ts'

export function blockedTitle({
  blocked_by: blocked,
  key,
  frame,
}: {
  readonly blocked_by: Pick<NonNullable<Verdict['blocked_by']>, 'status'> | null
  readonly key: Pick<Verdict['key'], 'remaining'>
  readonly frame: Pick<Verdict['frame'], 'remaining'>
}): 'verdict.tight' | 'verdict.blocked' {
  const isBudget = blocked?.status === 402
  const isLeft = [key.remaining, frame.remaining].every((left) => left === null || Number(left) > 0)
  return isBudget && isLeft ? 'verdict.tight' : 'verdict.blocked'
}
