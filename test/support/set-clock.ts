// Loaded into a gateway (NODE_OPTIONS=--import): its wall clock is wrong by as many milliseconds as the file that
// CLOCK_FILE names says, at every moment anew. The monotonic clock is left alone, as by an administrator.
import { readFileSync } from 'node:fs'

const systemNow = Date.now
const file = process.env['CLOCK_FILE'] ?? ''

Date.now = () => systemNow() + Number(readFileSync(file, 'utf8'))
