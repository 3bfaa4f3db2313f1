// Targets whose provider counted more than their requests were held for: a bound that was no bound. It is raised for as
// long as this process lives, so that the same mistake is not made with every request. Per target, by its name.
import { targetName } from '../catalog/models.ts'

type Name = { readonly provider: string; readonly model: string }

export class RaisedBounds {
  readonly #factors = new Map<string, number>()

  /** By how much the input bound of this target is multiplied. */
  factorOf({ provider, model }: Name): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(targetName(provider, model)) ?? 1)
  }

  /**
   * What was held for the input would have had to be so many times as much. `from`: the factor it was held with, because
   * requests that are under way together find out the same.
   */
  raise(target: Name, { from, times }: { readonly from: number; readonly times: number }): void {
    const factor = Math.max(this.factorOf(target), from * times)
    this.#factors.set(targetName(target.provider, target.model), factor)
  }
}
