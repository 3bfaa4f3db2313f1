// The size of the full database: as after a busy year, or less to try out the benchmark.
import { parseArgs } from 'node:util'

export type Size = { readonly keys: number; readonly groups: number; readonly rows: number }

const KEYS_A_GROUP = 100

const { values } = parseArgs({
  options: {
    scale: { type: 'boolean' },
    keys: { type: 'string', default: '100000' },
    rows: { type: 'string', default: '10000000' },
  },
})

const keys = Number(values.keys)
export const size: Size = {
  keys,
  groups: Math.ceil(keys / KEYS_A_GROUP),
  rows: Number(values.rows),
}
if (!(size.keys >= 10 && size.rows >= size.keys)) {
  throw new Error('usage: npm run bench:scale [-- --keys N --rows N], with N rows ≥ keys ≥ 10')
}
