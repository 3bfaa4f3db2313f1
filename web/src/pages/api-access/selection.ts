// The selected keys, including those on other pages of the list.
import { useState } from 'react'
import type { KeyRow } from '../../../../src/admin/contract/key.ts'

export type Selection = {
  readonly keys: readonly KeyRow[]
  readonly has: (id: string) => boolean
  readonly setMany: (keys: readonly KeyRow[], isTicked: boolean) => void
  readonly clear: () => void
}

export function useSelection(): Selection {
  const [ticked, setTicked] = useState<ReadonlyMap<string, KeyRow>>(new Map())
  return {
    keys: [...ticked.values()],
    has: (id) => ticked.has(id),
    setMany: (keys, isTicked) => {
      const next = new Map(ticked)
      for (const key of keys)
        if (isTicked) next.set(key.id, key)
        else next.delete(key.id)
      setTicked(next)
    },
    clear: () => setTicked(new Map()),
  }
}
