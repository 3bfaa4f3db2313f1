// How full a database is made: as a busy year leaves it, or less to try the benchmark out.
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
