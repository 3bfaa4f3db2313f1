// The tests' own Chromium: it starts here and runs scripts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser } from './chromium.ts'

test('the browser renders a page and runs its script', async () => {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.setContent('<p id="at"></p><script>at.textContent = 6 * 7</script>')
    assert.equal(await page.textContent('#at'), '42')
    assert.ok((await page.screenshot()).length > 1000)
  } finally {
    await browser.close()
  }
})
