// The longest names, without a space to break them at, and names that are markup: every page shows them whole and as
// text, and stays as wide as the screen.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { callModel, choose, misfits, openSignedInWeb, picture } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const markup = '<img src=x onerror="document.title=1">'
const long = `${markup}${'W'.repeat(80 - markup.length)}`

describe('long names', () => {
  let web: SignedInWeb
  let page: Page
  const paths: Record<string, string> = {
    overview: '/settings/api-access',
    frame: '/settings/api-access/frame',
    usage: '/settings/usage?by=key',
    requests: '/settings/requests',
    audit: '/settings/audit',
    people: '/settings/people',
    roles: '/settings/roles',
    alerts: '/settings/alerts',
  }

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    const team = long.replaceAll('/', '-')
    const group = await web.ask('POST', '/groups', {
      ...{ name: team, description: long, budget: '5', models: ['sandbox-chat'] },
      window: { budget: '1', period: 'day' },
    })
    const { id, secret } = await web.ask('POST', '/keys', {
      group: group['id'],
      name: long,
      owner: long,
      environment: 'W'.repeat(40),
      description: long,
      tags: [long.slice(0, 40)],
      models: ['sandbox-chat'],
      budget: '1',
    })
    await callModel(web.url, String(secret), 'Hello')
    await web.ask('POST', `/keys/${id}/pause`)
    await web.ask('POST', '/roles', { name: 'R'.repeat(60), permissions: ['usage:read'] })
    const email = `${'a'.repeat(64)}@${'b'.repeat(60)}.example`
    await web.ask('POST', '/people', { email, name: 'N'.repeat(100), role: 'viewer' })
    const url = `http://192.0.2.1/${'x'.repeat(300)}`
    await web.ask('POST', '/alerts/destinations', { kind: 'webhook', name: 'chat', url })
    for (const tab of ['usage', 'requests', 'models', 'settings', 'activity'])
      paths[`key-${tab}`] = `/settings/api-access/${id}?tab=${tab}`
    paths['groups'] = '/settings/groups'
    paths['keys-grouped'] = '/settings/api-access?grouped=true&columns=["group"]'
    for (const tab of ['keys', 'members', 'settings', 'activity'])
      paths[`group-${tab}`] = `/settings/groups/${String(group['id'])}?tab=${tab}`
    paths['group-edit'] = `/settings/groups/${String(group['id'])}/edit`
    paths['key-edit'] = `/settings/api-access/${id}/edit`
    paths['playground'] = `/settings/playground?key=${id}`
  })
  after(() => web.close())

  for (const width of [320, 1024])
    test(`fit on every page of ${width} pixels`, async () => {
      await page.setViewportSize({ width, height: 900 })
      const found: Record<string, readonly string[]> = {}
      for (const [name, path] of Object.entries(paths)) {
        await web.follow(path)
        const wrong = await misfits(page)
        if (wrong.length > 0) found[name] = wrong
        await picture(page, `long-${name}-${width}`)
      }
      assert.deepEqual(found, {})
    })

  test('fit in the dialogs', async () => {
    await page.setViewportSize({ width: 320, height: 900 })
    await web.open('/settings/api-access')
    for (const action of ['Top up', 'Rotate secret', 'Revoke']) {
      await choose(page, long, action)
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      const body = dialog.locator('.mantine-Modal-body')
      const [whole, shown] = await body.evaluate((box) => [box.scrollWidth, box.clientWidth])
      assert.equal(whole, shown, action)
      assert.deepEqual(await misfits(page), [], action)
      await picture(page, `long-${action}`)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  test('are never markup', () => assert.deepEqual(web.complaints, []))
})
