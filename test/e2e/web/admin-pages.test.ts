// The pages other than keys, in a real browser on a real gateway: frame, usage, models, requests, audit log, people,
// roles, account, alerts, playground and the admin API. Each shows true data, lets nobody make changes they may not,
// and never renders a name as markup.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { appCode } from '../../support/browser.ts'
import { run } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import {
  administrator,
  callModel,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const nasty = '<img src=x onerror="document.title=\'taken\'">'

/** The address of each page, its heading, and some text that only the gateway can know. */
const pages = [
  { path: '/settings/api-access/frame', title: 'Budget frame', knows: nasty },
  { path: '/settings/usage', title: 'Usage', knows: nasty },
  { path: '/settings/usage?by=model&range=24h', title: 'Usage', knows: 'sandbox-chat' },
  {
    path: '/settings/usage?by=provider&compare=true',
    title: 'Usage',
    knows: 'Compare with',
  },
  { path: '/settings/models', title: 'Models', knows: 'sandbox-embedding' },
  { path: '/settings/models?open=sandbox-chat', title: 'Models', knows: 'Where its requests go' },
  { path: '/settings/requests', title: 'Requests', knows: nasty },
  { path: '/settings/audit', title: 'Audit log', knows: nasty },
  { path: '/settings/people', title: 'People', knows: 'bob@example.com' },
  { path: '/settings/roles', title: 'Roles', knows: 'Administrator' },
  { path: '/settings/profile', title: 'Your account', knows: administrator.email },
  { path: '/settings/alerts', title: 'Alerts', knows: 'https://hooks.example.com/…' },
  { path: '/settings/playground', title: 'Playground', knows: 'Choose a key and a model' },
  { path: '/settings/admin-api', title: 'Admin API', knows: '/frame/top-up' },
] as const

describe('the pages besides those of keys', () => {
  let web: SignedInWeb
  let page: Page
  let open: SignedInWeb['open']
  let invitation = ''
  let requestId = ''

  before(async () => {
    web = await openSignedInWeb()
    ;({ page, open } = web)
    const { ask } = web
    const models = ['sandbox-chat', 'sandbox-embedding']
    const key = await ask('POST', '/keys', { name: nasty, models, budget: '5' })
    const answer = await callModel(web.url, String(key['secret']), 'Say hello.')
    assert.equal(answer.status, 200, await answer.text())
    requestId = answer.headers.get('x-request-id') ?? ''
    const bob = { email: 'bob@example.com', name: 'Bob', role: 'viewer' }
    const { link } = await ask('POST', '/people', bob)
    invitation = String((link as { url: string }).url)
    const url = 'https://hooks.example.com/tollgate'
    await ask('POST', '/alerts/destinations', { kind: 'webhook', name: 'chat', url })
    const { id } = await ask('POST', '/alerts/destinations', {
      ...{
        kind: 'webhook',
        name: 'night shift of the platform team',
        url: 'http://127.0.0.1:1/hook',
      },
      ...{ kinds: ['outage', 'ledger', 'refusals'], tags: ['batch'], environments: ['production'] },
    })
    await ask('POST', `/alerts/destinations/${String(id)}/test`)
    // Its first page has already asked where alerts go.
    await page.reload()
  })
  after(() => web.close())

  const setFrame = async (budget: string): Promise<void> => {
    const words = ['bin/tollgate.mjs', 'frame', 'set', '--budget', budget]
    assert.equal((await run('node', words, { env: web.env })).code, 0)
  }

  for (const { path, title, knows } of pages)
    test(`${path} shows its data`, async () => {
      await web.follow(path)
      await page.getByText(knows).first().waitFor()
      assert.equal(await page.locator('h1').innerText(), title)
      assert.equal(await page.title(), `${title} · Tollgate`)
    })

  test('the frame previews a change, and asks for confirmation before it stops every call', async () => {
    await open('/settings/api-access/frame')
    await page.getByRole('button', { name: 'Edit frame' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Budget in USD').fill('250')
    await dialog.getByText('of $250.00 spent').waitFor()
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('$250.00 a month').waitFor()

    await page.getByRole('button', { name: 'Edit frame' }).click()
    await dialog.getByLabel('Budget in USD').fill('0')
    await dialog.getByText('Every call of every key will be refused at once.').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Save changes' }).isDisabled())
    assert.deepEqual(await seriousFindings(page), [])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('the spenders of the frame include a revoked key, unless it spent nothing', async () => {
    for (const name of ['runaway', 'unused']) {
      const { id, secret } = await web.ask('POST', '/keys', {
        ...{ name, models: ['sandbox-chat'], budget: '5' },
      })
      if (name === 'runaway') await callModel(web.url, String(secret), 'Again.')
      await web.ask('POST', `/keys/${id}/revoke`, { reason: 'a test' })
    }
    await open('/settings/api-access/frame')
    const table = page.getByRole('table', { name: 'Who spends it' })
    await table.getByRole('row', { name: /^runaway Revoked <0.1%/ }).waitFor()
    assert.equal(await table.getByText('unused').count(), 0)
  })

  test('decimal points in a column of amounts align', async () => {
    await web.ask('POST', '/keys', { name: 'cents', models: ['sandbox-chat'], budget: '0.0125' })
    await open('/settings/api-access/frame')
    const pointOf = (amount: string): Promise<number> =>
      page
        .getByText(amount, { exact: true })
        .first()
        .evaluate(({ ownerDocument, firstChild }, at) => {
          const point = ownerDocument.createRange()
          if (firstChild) point.setStart(firstChild, at)
          return point.getBoundingClientRect().left
        }, amount.indexOf('.'))
    assert.equal(await pointOf('$0.0125'), await pointOf('$5.00'))
  })

  test('a key whose calls the frame refuses links to the frame', async () => {
    const { id, secret } = await web.ask('POST', '/keys', {
      ...{ name: 'refused', models: ['sandbox-chat'], budget: '5' },
    })
    await callModel(web.url, String(secret), 'Once.')
    await setFrame('0.000001')
    await open(`/settings/api-access/${id}`)
    await page.getByText('Calls are being refused').waitFor()
    await page.getByRole('link', { name: 'Raise the frame' }).click()
    await page.getByRole('heading', { name: 'Budget frame', level: 1 }).waitFor()
    await setFrame('250')
  })

  test('an expired key links to its expiry date', async () => {
    const { id } = await web.ask('POST', '/keys', {
      ...{ name: 'short-lived', models: ['sandbox-chat'], budget: '5' },
      expires_at: new Date(Date.now() + 1_000).toISOString(),
    })
    await until(async () => (await web.ask('GET', `/keys/${id}`))['status'] === 'expired')
    await open(`/settings/api-access/${id}`)
    await page.getByRole('link', { name: 'Set a later date' }).click()
    await page.getByRole('heading', { name: 'Edit short-lived', level: 1 }).waitFor()
  })

  test('two people who change the frame at once do not overwrite each other', async () => {
    await open('/settings/api-access/frame')
    await page.getByRole('button', { name: 'Edit frame' }).click()
    const mine = page.getByRole('dialog')
    await mine.getByLabel('Budget in USD').fill('300')
    const other = await web.context.newPage()
    await open('/settings/api-access/frame', other)
    await other.getByRole('button', { name: 'Edit frame' }).click()
    await other.getByLabel('Per').selectOption('week')
    await other.getByRole('button', { name: 'Save changes' }).click()
    await other.getByText('$250.00 a week').waitFor()
    await other.close()
    await mine.getByRole('button', { name: 'Save changes' }).click()
    await mine.getByText('Somebody has changed the frame in the meantime.').waitFor()
    await mine.getByText('after: week').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'frame-conflict')
    await mine.getByRole('button', { name: 'Apply mine on top' }).click()
    await page.getByText('$300.00 a week').waitFor()
  })

  test('usage is added up by the chosen group, and the choice stays in the address', async () => {
    await open('/settings/usage')
    for (const [group, name] of [
      ['Model', 'sandbox-chat'],
      ['Provider', 'sandbox'],
      ['Endpoint', 'Chat completions'],
    ] as const) {
      await page.getByLabel('By', { exact: true }).selectOption(group)
      await page.getByRole('rowheader', { name, exact: true }).waitFor()
      assert.equal(new URL(page.url()).searchParams.get('by'), group.toLowerCase())
    }
    await page.getByLabel('Compare with').selectOption('the time before')
    await page.getByRole('columnheader', { name: 'Cost before' }).waitFor()
    await page.getByRole('columnheader', { name: 'Change' }).waitFor()
    await page.getByRole('cell', { name: 'new', exact: true }).first().waitFor()
    await page.getByText('before: $0.00').waitFor()
    await page.getByLabel('Time', { exact: true }).selectOption('Chosen days')
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await page.getByLabel('Until', { exact: true }).fill('2020-01-02')
    await page.getByText('No usage in this time').waitFor()
  })

  test('a request opens to show how its cost came about', async () => {
    await open('/settings/requests')
    await page.getByRole('rowheader').first().getByRole('button').click()
    await page
      .getByRole('dialog')
      .getByRole('heading', { name: 'How the cost came about' })
      .waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await page.reload()
    await page.getByRole('dialog').getByRole('link').click()
    await page.getByRole('tab', { name: 'Requests' }).waitFor()
  })

  test('a request is found by its id', async () => {
    await open('/settings/requests')
    await page.getByRole('combobox', { name: 'Request id' }).fill(requestId)
    const drawer = page.getByRole('dialog', { name: 'Request' })
    await drawer.getByText(requestId).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
  })

  test('a page that cannot be fetched says so, and loads once it can', async () => {
    const other = await web.context.newPage()
    await open('/settings/people', other)
    await other.route('**/assets/usage*', (route) => route.abort())
    await other.getByRole('link', { name: 'Usage' }).click()
    await other.getByText('The gateway is back, or has been updated').waitFor()
    await other.unroute('**/assets/usage*')
    await other.getByRole('button', { name: 'Reload' }).click()
    await other.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await other.close()
  })

  test('an unknown address keeps the menu', async () => {
    await open('/settings/nowhere')
    await page.getByText('There is nothing at this address.').waitFor()
    await page.getByRole('link', { name: 'Usage' }).waitFor()
  })

  test('the list of failed requests says where refused calls are', async () => {
    await open('/settings/requests?outcome=failed')
    await page.getByText('Calls that were turned away are under the outcome “Refused”').waitFor()
  })

  test('a new destination must have an address', async () => {
    await open('/settings/alerts')
    await page.getByRole('button', { name: 'Add destination' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Add destination' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await dialog.getByText('Enter where alerts should go.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
  })

  test('a destination takes what is chosen for it, and gets another name', async () => {
    await open('/settings/alerts')
    await page.getByRole('button', { name: 'Add destination' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('late shift')
    await dialog.getByLabel('Webhook URL').fill('https://hooks.example.com/night')
    await dialog.getByRole('combobox', { name: 'Only about' }).click()
    await page.getByRole('option', { name: 'Provider out of order' }).click()
    await page.getByRole('option', { name: 'Request for more' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('combobox', { name: 'Only of keys in these environments' }).fill('prod')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Add destination' }).click()
    await dialog.getByRole('heading', { name: 'Signing secret' }).waitFor()
    await dialog.getByRole('button', { name: 'Copy Signing secret' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: /late shift/ })
    await row.getByText('Request for more · Provider out of order').waitFor()
    await row.getByText('environment prod').waitFor()
    await page.getByRole('button', { name: 'Edit late shift' }).click()
    await dialog.getByLabel('Name').fill('day shift')
    await dialog.getByRole('combobox', { name: 'Only about' }).focus()
    for (let chosen = 0; chosen < 2; chosen++) await page.keyboard.press('Backspace')
    await picture(page, 'destination')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('day shift was changed.').waitFor()
    const { destinations } = await web.ask('GET', '/alerts/destinations')
    const found = (destinations as unknown as readonly Record<string, unknown>[]).find(
      ({ name }) => name === 'day shift',
    )
    assert.partialDeepStrictEqual(found, { kinds: null, environments: ['prod'], groups: null })
    await page.getByRole('button', { name: 'Remove day shift' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('day shift was removed.').waitFor()
  })

  test('names in the audit log lead to what they name, and to all that somebody did', async () => {
    await open('/settings/audit?subject=key')
    await page.getByRole('link', { name: administrator.email }).first().click()
    await page.waitForURL(/actor=ann/)
    await page.getByRole('link', { name: nasty }).first().click()
    await page.getByRole('heading', { name: nasty, level: 1 }).waitFor()
  })

  test('what a model can do is shown by icons that have names, and its calls lead to requests', async () => {
    await open('/settings/models')
    const row = page.getByRole('row', { name: /^sandbox-chat\b/ }).first()
    await row.getByRole('listitem').filter({ hasText: 'Uses tools' }).waitFor()
    await row
      .getByRole('link', { name: /100% succeeded/ })
      .first()
      .click()
    await page.waitForURL(/requests\?model=sandbox-chat/)
  })

  test('the playground shows an answer with its cost', async () => {
    await open('/settings/playground')
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: nasty }).click()
    await page.getByText('A small call would pass now').waitFor()
    await page.getByLabel('Longest answer').fill('0')
    await page.getByLabel('Message', { exact: true }).fill('Say hello.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Enter a whole number of at least 1').waitFor()
    assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'Say hello.')
    await page.getByLabel('Longest answer').fill('512')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/tokens in, \d+ out, \$/).waitFor()
    assert.deepEqual(await seriousFindings(page), [])
  })

  test('the second factor is switched on with a code from the app', async () => {
    await open('/settings/profile')
    await page.getByRole('button', { name: 'Switch on' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Current password').fill(administrator.password)
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByRole('img', { name: 'QR code for the app' }).waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    const uri = await dialog.getByRole('link').getAttribute('href')
    await dialog.getByLabel('Code from your app').fill(appCode(uri ?? ''))
    await dialog.getByRole('button', { name: 'Confirm code' }).click()
    await dialog.getByText('These recovery codes are shown once.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Close without copying?' })
    await question.getByRole('button', { name: 'Close without it' }).click()
    await page.getByRole('button', { name: 'New recovery codes' }).waitFor()
  })

  test('an invitation shows its link', async () => {
    await open('/settings/people')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail address').fill('carol@example.com')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const link = page.getByLabel('one-time link', { exact: true })
    assert.match(await link.innerText(), /\/invitation#\S+$/)
    assert.deepEqual(await seriousFindings(page), [])
  })

  test('a viewer can see pages but change nothing', async () => {
    const own = await web.browser.newContext({ locale: 'en-US' })
    const viewer = await own.newPage()
    await viewer.goto(invitation)
    await viewer.getByLabel('New password').fill('short')
    await viewer.getByRole('button', { name: 'Accept invitation' }).click()
    await viewer.getByText('Use at least 12 characters').waitFor()
    await viewer.getByLabel('New password').fill(administrator.password)
    await viewer.getByRole('button', { name: 'Accept invitation' }).click()
    await viewer.getByRole('heading', { name: 'API access' }).waitFor()
    const changes = /Edit|Top up|Reset|Create|Add|Invite|Remove|Send|Save/
    for (const path of [
      '/settings/api-access/frame',
      '/settings/groups',
      '/settings/alerts',
      '/settings/roles',
    ]) {
      await open(path, viewer)
      assert.equal(await viewer.locator('main').getByRole('button', { name: changes }).count(), 0)
      assert.equal(await viewer.locator('main').getByRole('switch').count(), 0)
    }
    for (const path of ['/settings/people', '/settings/audit', '/settings/playground']) {
      await open(path, viewer)
      assert.equal(await viewer.locator('h1').innerText(), 'Not permitted')
      assert.equal(await viewer.locator(`nav a[href="${path}"]`).count(), 0)
    }
    await own.close()
  })

  test('a shadow hints at roles beyond the edge, and the permissions stay visible', async () => {
    for (const name of ['Audit', 'Billing', 'Support', 'Operations'])
      await web.ask('POST', '/roles', { name, permissions: ['usage:read'] })
    await page.setViewportSize({ width: 1024, height: 900 })
    await open('/settings/roles')
    await page.locator('[data-hidden="end"]').waitFor()
    const permission = page.getByRole('rowheader', { name: 'Manage people' })
    const before = await permission.boundingBox()
    await page.getByRole('columnheader', { name: 'Support' }).scrollIntoViewIfNeeded()
    await page.locator('[data-hidden="start"], [data-hidden="both"]').waitFor()
    assert.deepEqual(await permission.boundingBox(), before)
  })

  test('figures stand in one row where there is room for it', async () => {
    for (const width of [768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      for (const [path, figures, rows] of [
        // Six figures stand in two rows alike where one would be too narrow for them.
        ['/settings/usage', 6, width < 1200 ? 2 : 1],
        ['/settings/api-access/frame', 5, 1],
      ] as const) {
        await web.follow(path)
        const tops = await page
          .locator('main dl')
          .first()
          .locator('dt')
          .evaluateAll((terms) => terms.map((term) => term.getBoundingClientRect().top))
        assert.equal(tops.length, figures, path)
        assert.equal(new Set(tops).size, rows, `${path} at ${width} pixels`)
      }
    }
  })

  test('on the narrowest screen each role has its own list, and nothing scrolls sideways', async () => {
    await page.setViewportSize({ width: 320, height: 900 })
    await open('/settings/roles')
    const viewer = page.getByRole('heading', { level: 2, name: /^Viewer/ }).locator('..')
    assert.equal(await viewer.getByRole('listitem').count(), 6)
    await viewer.getByText('Manage people').waitFor()
    const scrolling = `[...document.querySelectorAll('main, main *')].filter(
      (element) => element.scrollWidth > element.clientWidth + 1 &&
        getComputedStyle(element).overflowX === 'auto').length`
    assert.equal(await page.evaluate(scrolling), 0)
  })

  test('no name is rendered as markup, and there are no browser errors', async () => {
    assert.notEqual(await page.title(), 'taken')
    // The conflicting change is answered with 412, which browsers always log.
    assert.deepEqual(
      web.complaints.filter((text) => !text.includes('status of 412')),
      [],
    )
  })
})
