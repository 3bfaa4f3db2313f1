// What the configuration changes about people: HTTPS in front, mail, the base address of links; and the command line's
// users.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { Browser, tokenOf } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

const PASSWORD = 'correct horse battery'

async function administrator(gateway: TestGateway, origin = gateway.url): Promise<Browser> {
  const words = ['--email', 'ann@example.com', '--name', 'Ann', '--role', 'Administrator']
  const { link } = await gateway.tollgate('users', 'create', ...words)
  const ann = new Browser(gateway.url)
  ann.origin = origin
  const token = tokenOf((link as { url: string }).url)
  assert.equal((await ann.post('/links/use', { token, password: PASSWORD })).status, 200)
  return ann
}

describe('behind HTTPS', () => {
  const origin = 'https://tollgate.example.com'
  const config = `admin: { public_url: "${origin}" }`

  test('the cookie is bound to its host, and links start with the public address', async () => {
    await using gateway = await startGateway({ config })
    const [, link = ''] = await gateway.printed(/(https\S+\/welcome#\S+)/)
    assert.equal(new URL(link).origin, origin)
    const ann = await administrator(gateway, origin)
    assert.equal((await ann.get('/session')).json.insecure, false)
    const signedIn = await ann.post('/session', { email: 'ann@example.com', password: PASSWORD })
    const [cookie = ''] = signedIn.headers.getSetCookie()
    assert.match(cookie, /^__Host-tollgate\.session_token=/)
    assert.match(cookie, /; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
    assert.doesNotMatch(cookie, /Domain/)
    const invited = await ann.post('/people', { email: 'bob@example.com', role: 'Viewer' })
    assert.ok(invited.json.link.url.startsWith(`${origin}/invitation#`))
    assert.ok(!gateway.log().some(({ event }) => event === 'sign_in_over_http'))
  })

  test('browsers are told to come back only over HTTPS', async () => {
    await using gateway = await startGateway({ config })
    for (const path of ['/', '/admin/api/v1/session', '/admin/api/v1/nothing', '/nothing.js']) {
      const { headers } = await fetch(gateway.url + path)
      assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path)
    }
    const { headers } = await fetch(`${gateway.url}/v1/models`)
    assert.equal(headers.get('strict-transport-security'), null)
  })

  test('the address of a caller is the one the proxy reports', async () => {
    await using gateway = await startGateway({ config })
    const ann = await administrator(gateway, origin)
    const headers = { 'x-forwarded-for': '198.51.100.7, 203.0.113.8' }
    const body = { email: 'ann@example.com', password: PASSWORD }
    await ann.send('POST', '/session', { body, headers })
    const { sessions } = (await ann.get('/profile/sessions')).json
    assert.equal(sessions[0].address, '203.0.113.8')
  })
})

describe('over plain HTTP', () => {
  test('the log warns once other machines can reach the sign-in', async () => {
    await using gateway = await startGateway({ config: 'server: { host: 0.0.0.0 }' })
    await new Browser(gateway.url.replace('0.0.0.0', '127.0.0.1')).get('/session')
    const { message } = await gateway.logged('sign_in_over_http')
    assert.match(String(message), /admin\.public_url/)
  })

  test('browsers may come back over plain HTTP', async () => {
    await using gateway = await startGateway()
    const { headers } = await fetch(gateway.url)
    assert.equal(headers.get('strict-transport-security'), null)
  })

  test('people can sign in, with no warning in the log if only this machine is served', async () => {
    await using gateway = await startGateway()
    const ann = await administrator(gateway)
    assert.equal((await ann.get('/session')).json.insecure, true)
    assert.ok(!gateway.log().some(({ event }) => event === 'sign_in_over_http'))
    // By any name the machine has on its network.
    const { port } = new URL(gateway.url)
    const lan = new Browser(gateway.url.replace('127.0.0.1', 'localhost'))
    lan.origin = `http://localhost:${port}`
    assert.equal(
      (await lan.post('/session', { email: 'ann@example.com', password: PASSWORD })).status,
      200,
    )
    const invited = await lan.post('/people', { email: 'bob@example.com', role: 'Viewer' })
    assert.ok(invited.json.link.url.startsWith(`http://localhost:${port}/invitation#`))
    // A header that anyone can write does not set the client's address.
    const headers = { 'x-forwarded-for': '203.0.113.8' }
    const body = { email: 'ann@example.com', password: PASSWORD }
    await ann.send('POST', '/session', { body, headers })
    assert.equal((await ann.get('/profile/sessions')).json.sessions[0].address, '127.0.0.1')
  })
})

describe('mail', () => {
  const publicUrl = 'public_url: "http://tollgate.lan"'

  test('an invitation goes out by mail, and its link is shown to nobody else', async () => {
    await using mail = await startMailServer()
    const smtp = `smtp: { url: "smtp://127.0.0.1:${mail.port}", from: "Tollgate <gate@example.com>" }`
    await using gateway = await startGateway({ config: `admin: { ${publicUrl}, ${smtp} }` })
    const ann = await administrator(gateway)
    const invited = await ann.post('/people', { email: 'bob@example.com', role: 'Viewer' })
    assert.deepEqual([invited.json.link.mailed, invited.json.link.url], [true, null])
    const [letter = ''] = mail.letters
    assert.match(letter, /^From: Tollgate <gate@example\.com>$/m)
    assert.match(letter, /^To: bob@example\.com$/m)
    const [link = ''] = /http:\/\/tollgate\.lan\/invitation#\S+/.exec(unfold(letter)) ?? []
    const bob = new Browser(gateway.url)
    const use = { token: tokenOf(link), name: 'Bob', password: PASSWORD }
    assert.equal((await bob.post('/links/use', use)).status, 200)
    const cli = await gateway.tollgate(
      ...['users', 'invite', '--email', 'carl@example.com', '--role', 'Viewer'],
    )
    assert.equal((cli['link'] as { mailed: boolean }).mailed, true)
    assert.equal(mail.letters.length, 2)
  })

  test('an unreachable mail server does not prevent invitations', async () => {
    const smtp = 'smtp: { url: "smtp://127.0.0.1:1", from: "gate@example.com" }'
    await using gateway = await startGateway({ config: `admin: { ${publicUrl}, ${smtp} }` })
    const ann = await administrator(gateway)
    const invited = await ann.post('/people', { email: 'bob@example.com', role: 'Viewer' })
    assert.equal(invited.json.link.mailed, false)
    assert.match(invited.json.link.url, /\/invitation#/)
    await gateway.logged('mail_failed')
  })
})

test('tollgate users does what the web pages do, beside a running server', async () => {
  await using gateway = await startGateway()
  const ann = await administrator(gateway)
  const users = (...words: string[]) => gateway.tollgate('users', ...words)
  const emails = async () =>
    ((await users('list'))['users'] as { email: string }[]).map(({ email }) => email)
  const created = await users('create', '--email', 'Bob@Example.com', '--role', 'viewer')
  assert.deepEqual([created['email'], created['status']], ['bob@example.com', 'invited'])
  assert.deepEqual(await emails(), ['ann@example.com', 'bob@example.com'])
  assert.equal(
    ((await users('role', 'bob@example.com', 'Manager'))['role'] as { id: string }).id,
    'manager',
  )

  const moved = await users('email', 'bob@example.com', 'Robert@Example.com')
  assert.equal(moved['email'], 'robert@example.com')
  await assert.rejects(users('email', 'robert@example.com', 'x'), /ended with 2: .*not an e-mail/)
  await users('email', 'robert@example.com', 'bob@example.com')

  await users('sign-out', 'ann@example.com')
  assert.equal((await ann.get('/profile')).status, 401)
  const reset = await users('reset-password', 'ann@example.com')
  const token = tokenOf((reset['link'] as { url: string }).url)
  const password = 'another good password'
  assert.equal((await ann.post('/links/use', { token, password })).status, 200)
  assert.equal((await ann.get('/profile')).status, 200)

  for (const words of [
    ['block', 'ann@example.com'],
    ['remove', 'ann@example.com'],
    ['role', 'ann@example.com', 'Viewer'],
  ])
    await assert.rejects(
      users(...words),
      /ended with 1: tollgate: nobody could manage people afterwards/,
    )
  await assert.rejects(users('role', 'bob@example.com', 'Boss'), /ended with 2: .*no role "Boss"/)
  await assert.rejects(
    users('create', '--email', 'x', '--role', 'Viewer'),
    /ended with 2: .*not an e-mail/,
  )
  await assert.rejects(
    users('block', 'nobody@example.com'),
    /ended with 1: .*nobody called "nobody@example\.com" here/,
  )
  assert.equal((await users('block', 'bob@example.com'))['status'], 'blocked')
  assert.equal((await users('unblock', 'bob@example.com'))['status'], 'invited')
  await users('remove', 'bob@example.com')
  assert.deepEqual(await emails(), ['ann@example.com'])
  const { json } = await ann.get('/audit?source=cli&action=person.remove')
  assert.deepEqual(
    json.entries.map((entry: { outcome: string }) => entry.outcome),
    ['done', 'refused'],
  )
})

type MailServer = AsyncDisposable & { readonly port: number; readonly letters: readonly string[] }

/** The part of SMTP needed to receive one message. */
async function startMailServer(): Promise<MailServer> {
  const letters: string[] = []
  const server = createServer((socket) => converse(socket, letters))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    letters,
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}

function converse(socket: Socket, letters: string[]): void {
  let letter: string[] | undefined
  let rest = ''
  const say = (line: string): boolean => socket.write(`${line}\r\n`)
  say('220 ready')
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (letter !== undefined) {
        if (line !== '.') letter.push(line)
        else {
          letters.push(letter.join('\n'))
          letter = undefined
          say('250 taken')
        }
      } else if (line === 'DATA') {
        letter = []
        say('354 go on')
      } else if (line === 'QUIT') {
        say('221 bye')
        socket.end()
      } else say('250 ok')
    }
  })
}

/** Joins lines that quoted-printable has split. */
function unfold(letter: string): string {
  return letter.replaceAll('=\n', '').replaceAll('=3D', '=')
}
