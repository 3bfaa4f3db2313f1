// How the web interface is built: every script and style is a file of its own, because the gateway's
// Content-Security-Policy allows nothing inline and no other host.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'
import { themeStyleSheet } from './src/theme/style-sheet.ts'

const gateway = process.env['TOLLGATE_URL'] ?? 'http://127.0.0.1:4000'

export default defineConfig({
  plugins: [react(), themeVariables()],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  // `npx vite web` while working on the interface, beside a running gateway.
  server: { proxy: { '/v1': gateway, '/readyz': gateway, '/admin/api': gateway } },
})

/** `import 'virtual:theme.css'`: what Mantine would otherwise write into a <style> element at run time. */
function themeVariables(): Plugin {
  const id = 'virtual:theme.css'
  return {
    name: 'theme-variables',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load: (resolved) => (resolved === `\0${id}` ? themeStyleSheet() : undefined),
  }
}
