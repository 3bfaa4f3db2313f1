// Targets whose provider counted more than their requests were held for: a bound that was no bound. It is raised for as
// long as this process lives, so that the same mistake is not made with every request. Per target and by what the bound
// rested on: a recount that was too low, which a client can bring about, says nothing about the bytes of others.
import { targetName } from '../catalog/models.ts'

type Name = { readonly provider: string; readonly model: string }

/** What an input bound rests on: the bytes of a request, or somebody's count of them. */
export type Basis = 'bytes' | 'count'

export class RaisedBounds {
  readonly #factors = new Map<string, number>()

  /** By how much such a bound of this target is multiplied. */
  factorOf(target: Name, basis: Basis): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(entryOf(target, basis)) ?? 1)
  }

  /**
   * What was held for the input would have had to be so many times as much. `from`: the factor it was held with, because
   * requests that are under way together find out the same.
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
