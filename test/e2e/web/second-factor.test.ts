// A second factor that is required, in a real browser: every page says by when, and afterwards leads to the own account.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import {
  misfits,
  openSignedInWeb,
  picture,
  seriousFindings,
  speakGerman,
  type SignedInWeb,
} from '../../support/web/web.ts'

describe('a required second factor', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb('people: { require_second_factor: all }')
    ;({ page } = web)
  })
  after(() => web.close())

  async function shown(name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1440]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await seriousFindings(page), [], `${colorScheme} ${width}`)
        assert.deepEqual(await misfits(page), [], `${colorScheme} ${width}`)
        await picture(page, `${name}-${colorScheme}-${width}`)
      }
  }

  test('every page says by when, and leads to the account', async () => {
    await page.getByText(/^A second factor is required of you by /).waitFor()
    await shown('second-factor-english')
    await page.getByRole('link', { name: 'Set it up' }).click()
    await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor()
  })

  test('when the time is over, nothing else is open', async () => {
    const store = await openStore(web.env['TOLLGATE_DATABASE'] ?? '', {
      ...{ clock: systemClock, purpose: 'change' },
    })
    await store.db.updateTable('people').set({ second_factor_due_at: 1 }).execute()
    await store.close()
    await page.goto(`${web.url}/settings/api-access`)
    await page.getByText('until you set it up, nothing else is open').waitFor()
    await page.getByRole('heading', { name: 'Not permitted', level: 1 }).waitFor()
    await speakGerman(page)
    await shown('second-factor-german')
    await page.getByRole('link', { name: 'Einrichten' }).click()
    await page.getByRole('heading', { name: 'Ihr Konto', level: 1 }).waitFor()
  })
})
