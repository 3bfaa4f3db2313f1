// Loaded into a gateway (NODE_OPTIONS=--import): its wall clock is wrong by the number of milliseconds in the file that
// CLOCK_FILE names, read each time. The monotonic clock is left alone, as when an administrator sets the clock.
import { readFileSync } from 'node:fs'

const systemNow = Date.now
const file = process.env['CLOCK_FILE'] ?? ''

Date.now = () => systemNow() + Number(readFileSync(file, 'utf8'))
