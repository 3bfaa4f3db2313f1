// Targets whose provider counted more input than was held for: the bound was too low. It is raised for the life of this
// process, so that not every request repeats the mistake. Kept per target and by what the bound rested on: a client can
// cause a recount that is too low, and that says nothing about bounds from bytes.
import { targetName } from '../catalog/models.ts'

type Name = { readonly provider: string; readonly model: string }

/** What an input bound rests on: the bytes of a request, or a count of its tokens. */
export type Basis = 'bytes' | 'count'

export class RaisedBounds {
  readonly #factors = new Map<string, number>()

  /** What bounds of this kind are multiplied by for this target. */
  factorOf(target: Name, basis: Basis): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(entryOf(target, basis)) ?? 1)
  }

  /**
   * The hold for the input should have been `times` as large. `from` is the factor it was made with: requests that run
   * at the same time report the same shortfall, which must count only once.
   */
  raise(target: Name, { basis, from, times }: Raise): void {
    const factor = Math.max(this.factorOf(target, basis), from * times)
    this.#factors.set(entryOf(target, basis), factor)
  }
}

type Raise = { readonly basis: Basis; readonly from: number; readonly times: number }

function entryOf({ provider, model }: Name, basis: Basis): string {
  return `${basis} ${targetName(provider, model)}`
}
