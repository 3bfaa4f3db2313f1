// The first page, in a real browser from a running gateway: it shows true data, and needs nothing that the gateway's
// Content-Security-Policy forbids.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openWebStage, watchComplaints } from '../../support/web/web.ts'
import type { WebStage } from '../../support/web/web.ts'

describe('the first page', () => {
  let stage: WebStage
  let page: Page
  let complaints: string[]

  before(async () => {
    stage = await openWebStage()
    page = await stage.browser.newPage()
    complaints = watchComplaints(page)
    page.on('requestfailed', (request) => {
      // Leaving a page aborts its open requests.
      const reason = request.failure()?.errorText ?? ''
      if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${reason}`)
    })
    await page.goto(stage.url)
  })
  after(() => stage.close())

  test('says that the gateway is running', async () => {
    await page.getByRole('status').getByText('The gateway is running.').waitFor()
  })

  test('says how the first administrator signs in', async () => {
    await page.getByText('Open the link that the gateway printed at its first start.').waitFor()
  })

  test('is readable in the dark', async () => {
    const ground = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    assert.notEqual(await ground(), light)
  })

  test('uses the chosen language, after a reload too', async () => {
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'de')
    await page.reload()
    await page.getByRole('button', { name: 'Sprache' }).click()
    await page.getByRole('menuitemradio', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('ignores a made-up next address and error code', async () => {
    await page.goto(`${stage.url}/sign-in?next=https://example.com&error=nonsense`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('refuses a link that was never printed', async () => {
    await page.goto(`${stage.url}/invitation#made-up`)
    await page.getByText('This link does not work.').waitFor()
    assert.equal(new URL(page.url()).hash, '', 'the token leaves the address')
  })

  test('shows the gateway’s refusals in the chosen language', async () => {
    await page.evaluate("localStorage.setItem('tollgate.language', 'de')")
    await page.goto(`${stage.url}/invitation#made-up`)
    await page.reload()
    await page.goto(`${stage.url}/invitation#made-up-again`)
    await page.getByText('Einen solchen Link gibt es nicht').waitFor()
    await page.evaluate("localStorage.setItem('tollgate.language', 'en')")
  })

  test('loads without browser errors', () => {
    // The refused link is answered with 404, which browsers always log.
    assert.deepEqual(
      complaints.filter((text) => !text.includes('status of 404')),
      [],
    )
  })

  test('notices when the gateway stops', async () => {
    await page.goto(stage.url)
    await page.getByRole('status').getByText('The gateway is running.').waitFor()
    await stage.gateway.stop()
    await page.getByRole('status').getByText('The gateway does not answer.').waitFor()
  })
})
