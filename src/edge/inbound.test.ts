// Bodies of requests as sockets bring them: in pieces, too large, cut off.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../core/clock.ts'
import { LinkedList } from '../core/runtime.ts'
import { Overload } from '../exchange/admission.ts'
import { ClientGone } from '../exchange/reply.ts'
import { jsonLog } from '../telemetry/log.ts'
import type { Watched } from './connection.ts'
import { Body, BodyRoom, type BodyRoomOptions } from './inbound.ts'

/** Room for bodies of so many bytes. */
function bodiesOf(bodyBytesMax: number): BodyRoomOptions {
  const log = jsonLog(systemClock, () => {})
  const overload = new Overload({ clock: systemClock, log, waitingMax: 1, waitingMs: 1 })
  return { bodyBytesMax, overload }
}

/** A shared timer that runs only when the test calls it. */
class Watch {
  readonly #watched = new LinkedList<Watched>()
  readonly nowMs = 0
  readonly add = (one: Watched) => this.#watched.add(one)

  get count(): number {
    return this.#watched.members().length
  }

  look(nowMs: number): void {
    for (const one of this.#watched.members()) one.look(nowMs)
  }
}

/** Sends these pieces one by one, and returns what the server read of each request and the client of each answer. */
async function reading(
  context: TestContext,
  {
    room,
    keyId = 'key_one',
    watch = new Watch(),
  }: { readonly room: BodyRoom; readonly keyId?: string; readonly watch?: Watch },
  pieces: readonly string[],
) {
  const seen: unknown[] = []
  const server = createServer((message, response) => {
    const body = new Body(room, message, watch)
    const answered = body.read(keyId).then(
      (whole) => {
        seen.push(whole.toString())
        response.end('taken')
      },
      (thrown: unknown) => {
        seen.push(thrown)
        response.end('refused')
      },
    )
    void answered.then(() => body.release())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  client.setEncoding('utf8').on('data', (text: string) => (received += text))
  for (const piece of pieces) {
    client.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { seen, client, received: () => received }
}

const post = (length: number, more = ''): string =>
  `POST / HTTP/1.1\r\nhost: a\r\n${more}content-length: ${length}\r\n\r\n`

test('a body in pieces is read whole', async (context) => {
  const { seen, client } = await reading(context, { room: new BodyRoom(bodiesOf(100)) }, [
    post(10),
    'hello',
    'world',
  ])
  await once(client, 'data')
  client.destroy()
  assert.deepEqual(seen, ['helloworld'])
})

test('an oversized announcement, a compressed body and a body that grows too large are refused', async (context) => {
  const room = new BodyRoom(bodiesOf(1024 * 1024))
  for (const request of [
    post(2 * 1024 * 1024),
    `${post(5, 'content-encoding: gzip\r\n')}12345`,
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n' +
      `180000\r\n${'x'.repeat(0x180000)}\r\n0\r\n\r\n`,
  ]) {
    const { seen, client } = await reading(context, { room }, [request])
    await once(client, 'data')
    client.destroy()
    assert.match(String(seen[0]), /the limit is 1 MB|uncompressed/)
  }
})

test('after a refusal the connection serves the next request', async (context) => {
  const { client, seen, received } = await reading(context, { room: new BodyRoom(bodiesOf(4)) }, [
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n',
    `${post(2)}ok`,
  ])
  while (!received().includes('taken')) await once(client, 'data')
  client.destroy()
  assert.equal(seen[1], 'ok')
})

test('a client that leaves inside its body counts as gone', async (context) => {
  const { seen, client } = await reading(context, { room: new BodyRoom(bodiesOf(100)) }, [
    post(10),
    'half',
  ])
  client.destroy()
  await until(() => seen.length > 0)
  assert.ok(seen[0] instanceof ClientGone)
})

/** A room that exposes how many bytes it has counted. */
class CountedRoom extends BodyRoom {
  bytes = 0

  override take(keyId: string, bytes: number, bytesOfBody: number) {
    this.bytes += bytes
    return super.take(keyId, bytes, bytesOfBody)
  }

  override giveBack(keyId: string, bytes: number): void {
    this.bytes -= bytes
    super.giveBack(keyId, bytes)
  }
}

test('a body may take two minutes, plus a second for each 64 KB that has arrived', async (context) => {
  for (const [bytes, msMax] of [
    [1, 120_001],
    [640_000, 130_000],
  ] as const) {
    const watch = new Watch()
    const room = new CountedRoom(bodiesOf(1_000_000))
    const pieces = [post(1_000_000), 'x'.repeat(bytes)]
    const { seen, client } = await reading(context, { room, watch }, pieces)
    await until(() => room.bytes >= bytes)
    watch.look(msMax)
    assert.equal(watch.count, 1, 'it is still waited for')
    watch.look(msMax + 1)
    assert.equal(watch.count, 0)
    await once(client, 'data')
    client.destroy()
    assert.match(String(seen[0]), /took too long to arrive: send it again/)
    assert.equal(room.bytes, 0)
  }
})

test('a body that has arrived, or whose client has left, is no longer watched', async (context) => {
  const watch = new Watch()
  const room = new BodyRoom(bodiesOf(100))
  const whole = await reading(context, { room, watch }, [`${post(2)}ok`])
  await once(whole.client, 'data')
  assert.equal(watch.count, 0)
  whole.client.destroy()
  const half = await reading(context, { room, watch }, [`${post(2)}o`])
  await until(() => watch.count > 0)
  half.client.destroy()
  await until(() => half.seen.length > 0)
  assert.equal(watch.count, 0)
})

/** A body that was read, and not yet released. */
async function hold(context: TestContext, room: BodyRoom, keyId: string): Promise<Body> {
  const held = Promise.withResolvers<Body>()
  const open = createServer((message) => held.resolve(new Body(room, message, new Watch())))
  open.listen(0, '127.0.0.1')
  await once(open, 'listening')
  const holder = connect((open.address() as AddressInfo).port, '127.0.0.1')
  context.after(() => {
    holder.destroy()
    open.close()
  })
  holder.write(`${post(8)}12345678`)
  const body = await held.promise
  assert.equal((await body.read(keyId)).toString(), '12345678')
  return body
}

test('bodies count against the limits of their key and of the server until released', async (context) => {
  const room = new BodyRoom(bodiesOf(8))
  const more = async (keyId: string): Promise<unknown> => {
    const { seen, client } = await reading(context, { room, keyId }, [`${post(8)}12345678`])
    await once(client, 'data')
    client.destroy()
    return seen[0]
  }
  const holdFour = (keyId: string): Promise<Body[]> =>
    Promise.all(Array.from({ length: 4 }, () => hold(context, room, keyId)))
  const [one] = await holdFour('key_one')
  // A refused body no longer counts; those that are kept still do.
  assert.match(String(await more('key_one')), /too many/)
  assert.match(String(await more('key_one')), /too many/)
  // Half of the room is for others.
  await holdFour('key_two')
  assert.match(String(await more('key_three')), /too many/)
  one?.release()
  one?.release()
  assert.equal(await more('key_one'), '12345678')
  assert.equal(await more('key_one'), '12345678')
  assert.equal(await more('key_three'), '12345678')
})

/** Looks again after each turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}
