// The size of the full database: as after a busy year, or less to try out the benchmark.
import { parseArgs } from 'node:util'

export type Size = { readonly keys: number; readonly rows: number }

const { values } = parseArgs({
  options: {
    scale: { type: 'boolean' },
    keys: { type: 'string', default: '100000' },
    rows: { type: 'string', default: '10000000' },
  },
})

export const size: Size = { keys: Number(values.keys), rows: Number(values.rows) }
if (!(size.keys >= 10 && size.rows >= size.keys)) {
  throw new Error('usage: npm run bench:scale [-- --keys N --rows N], with N rows ≥ keys ≥ 10')
}
