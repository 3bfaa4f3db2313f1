// Measures contenders in turn, several times each, so that whatever else the machine does affects all alike.
import { connect } from 'node:net'
import type { Contender } from './contenders/contender.ts'
import type { Load, Measured } from './load/load.ts'
import { runLoad } from './load/load.ts'
import { share } from './measuring.ts'
import { requestsOf } from './workloads.ts'
import type { Way, Workload } from './workloads.ts'

export const ROUND_SECONDS = share(3)

/**
 * The share of both cores that other programs may use during a round: below it the rounds of an idle machine stay. A
 * round above it is repeated once; figures do not decide that.
 */
const OTHERS_MAX = 0.05

export function wasDisturbed({ othersShare }: Measured): boolean {
  return othersShare > OTHERS_MAX
}

/** The rounds of one contender at one workload, or why there are none. */
export type Rounds = readonly Measured[] | { readonly failed: string }

export function isMeasured(rounds: Rounds | undefined): rounds is readonly Measured[] {
  return Array.isArray(rounds)
}

export type Course = {
  readonly rounds: number
  readonly seconds: number
  /** Warm-up before the first round, so that code is compiled and connections are open. */
  readonly warmSeconds: number
}

/** By contender; one that lacks this workload is left out, one that fails at it is not tried again. */
export async function measure(
  contenders: readonly Contender[],
  workload: Workload,
  { folder, rounds, seconds, warmSeconds }: Course & { readonly folder: string },
): Promise<ReadonlyMap<string, Rounds>> {
  const runners = contenders.flatMap((contender) => {
    const way = contender.wayOf(workload)
    return way === undefined ? [] : [{ contender, way, measured: [] as Measured[], failed: '' }]
  })
  for (let round = 0; round <= rounds; round++) {
    for (const runner of runners.filter(({ failed }) => failed === '')) {
      const duration = round === 0 ? warmSeconds : seconds
      if (duration === 0) continue
      try {
        const load = loadOf(runner.contender, workload, { ...runner.way, seconds: duration })
        const first = await runLoad(load, folder)
        const isAgain = round > 0 && wasDisturbed(first)
        const measured = isAgain ? calmer(first, await runLoad(load, folder)) : first
        const { refusedShare } = measured
        if (refusedShare !== (workload.refusal === undefined ? 0 : 1)) {
          throw new Error(await answerText(load, refusedShare))
        }
        if (round > 0) runner.measured.push(measured)
      } catch (error) {
        runner.failed = error instanceof Error ? error.message : String(error)
      }
    }
  }
  return new Map(
    runners.map(({ contender, measured, failed }) => [
      contender.name,
      failed === '' ? measured : { failed },
    ]),
  )
}

function calmer(one: Measured, other: Measured): Measured {
  return other.othersShare < one.othersShare ? other : one
}

/**
 * By the number of requests and not only by time: V8 compiles what has run often, and Tollgate is more code than a
 * proxy.
 */
export async function warmUp(
  contender: Contender,
  workload: Workload,
  { folder, requests, secondsMax }: WarmUp,
): Promise<void> {
  const way = contender.wayOf(workload)
  if (way === undefined) return
  let done = 0
  for (let spent = 0; done < requests && spent < secondsMax; spent += ROUND_SECONDS) {
    const load = loadOf(contender, workload, { ...way, seconds: ROUND_SECONDS })
    done += (await runLoad(load, folder)).requests
  }
}

export type WarmUp = {
  readonly folder: string
  readonly requests: number
  readonly secondsMax: number
}

function loadOf(
  { pid, databaseCpuNs }: Contender,
  workload: Workload,
  way: Way & { readonly seconds: number },
): Load {
  const { connections, untilFirstEvent = false } = workload
  const requests = requestsOf(workload, way)
  const { url, seconds } = way
  return { url, pid, databaseCpuNs, requests, connections, seconds, untilFirstEvent }
}

/** The answer of a contender that does not do what it should. */
async function answerText({ url, requests }: Load, refusedShare: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.once('data', (chunk: Buffer) => resolve(chunk.toString()))
  socket.once('error', (error) => resolve(error.message))
  socket.write(requests[0] ?? '')
  const answer = await promise
  socket.destroy()
  const [status = ''] = answer.split('\r\n')
  const body = answer.split('\r\n\r\n').slice(1).join(' ').slice(0, 200)
  return `refused ${(refusedShare * 100).toFixed(0)} %; ${status}: ${body}`
}
