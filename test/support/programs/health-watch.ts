// A thread that asks a gateway for its health again and again, and tells how long the slowest answer took. A thread of
// its own, because the test beside it is busy making large bodies.
import { parentPort, workerData } from 'node:worker_threads'

const url = `${String(workerData)}/healthz`
let isOver = false
let slowestMs = 0
let answers = 0

parentPort?.once('message', () => {
  isOver = true
})

while (!isOver) {
  const startedMs = performance.now()
  const { status } = await fetch(url)
  slowestMs = Math.max(slowestMs, performance.now() - startedMs)
  if (status !== 200) throw new Error(`/healthz answered ${status}`)
  answers += 1
  await new Promise((resolve) => setTimeout(resolve, 5))
}

parentPort?.postMessage({ slowestMs, answers })
