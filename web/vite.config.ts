// How the web interface is built: every script and style is a file of its own, because the gateway's
// Content-Security-Policy allows nothing inline and no other host.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  // `npx vite web` while working on the interface, beside a running gateway.
  server: { proxy: { '/v1': 'http://127.0.0.1:4000', '/readyz': 'http://127.0.0.1:4000' } },
})
