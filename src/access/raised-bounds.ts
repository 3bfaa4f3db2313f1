// Targets whose provider counted more than their requests were held for: a bound that was no bound. It is raised for as
// long as this process lives, so that the same mistake is not made with every request. Per target, by its name.

export class RaisedBounds {
  readonly #factors = new Map<string, number>()

  /** By how much the input bound of this target is multiplied. */
  factorOf({ provider, model }: { readonly provider: string; readonly model: string }): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(`${provider}/${model}`) ?? 1)
  }

  /** What was held for the input would have had to be so many times as much. */
  raise(target: string, times: number): void {
    this.#factors.set(target, (this.#factors.get(target) ?? 1) * Math.max(1, times))
  }
}
