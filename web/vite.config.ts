// How the web interface is built: every script and style is a file of its own, because the gateway's
// Content-Security-Policy allows nothing inline and no other host.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'
import { keyRoutes } from '../src/admin/contract/keys.ts'
import { addressOf } from '../src/admin/contract/route.ts'
import { signInRoutes } from '../src/admin/contract/sign-in.ts'
import { keyQueryOf } from './src/base/address.ts'
import { themeStyleSheet } from './src/theme/theme.ts'

/** Told by what name the browser knows it, or it would take every change for one of another site. */
const gateway = {
  target: process.env['TOLLGATE_URL'] ?? 'http://127.0.0.1:4000',
  changeOrigin: false,
}

export default defineConfig({
  plugins: [
    react(),
    themeVariables(),
    fetchedAtOnce(),
    withoutSummaries(),
    withoutJsonSchema(),
    packedFiles(),
  ],
  define: {
    ASKED_FIRST: {
      session: addressOf(signInRoutes.readSession, {}),
      keys: addressOf(keyRoutes.listKeys, { query: keyQueryOf({}) }),
    },
  },
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'LICENSES.md' },
    // What every page needs is one file, and what many need is another: cut along the pages' lines it was fifty, larger by
    // 17 kB when packed, and the overview fetched 24.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'start',
              test: /src\/(start|base\/ahead|i18n\/languages)\.ts$|preload-helper/,
              priority: 2,
            },
            { name: 'base', test: /src\/(router|parts\/changes)\.tsx$/, priority: 1 },
            { name: 'shared', test: /@mantine|web\/src/, minShareCount: 6 },
            { name: 'overview', test: /src\/pages\/keys\/overview\.tsx$/ },
          ],
        },
      },
    },
  },
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

/** What src/start.ts loads on every page: named in the page itself, or it would be asked for only once that runs. */
function fetchedAtOnce(): Plugin {
  return {
    name: 'fetched-at-once',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((each) => each.type === 'chunk')
        const main = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/src/main.tsx'))
        const found = new Set<Rolldown.OutputChunk>()
        const follow = (chunk: Rolldown.OutputChunk): void => {
          for (const each of chunks)
            if (chunk.imports.includes(each.fileName) && !html.includes(each.fileName)) follow(each)
          found.add(chunk)
        }
        if (main) follow(main)
        return [...found].flatMap(tagsOf)
      },
    },
  }
}

function tagsOf({ fileName, viteMetadata }: Rolldown.OutputChunk): HtmlTagDescriptor[] {
  const link = (rel: string, file: string): HtmlTagDescriptor => ({
    tag: 'link',
    injectTo: 'head',
    attrs: { rel, crossorigin: true, href: `/${file}` },
  })
  const styles = [...(viteMetadata?.importedCss ?? [])]
  return [link('modulepreload', fileName), ...styles.map((file) => link('stylesheet', file))]
}

/** What routes say of themselves is for the OpenAPI document, which the gateway writes: pages need no word of it. */
function withoutSummaries(): Plugin {
  return {
    name: 'without-summaries',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/src/admin/contract/')) return undefined
      return { code: code.replaceAll(/\bsummary:\s*(['"]).*\1,/g, ''), map: null }
    },
  }
}

/** Every schema of zod can write itself as JSON Schema, which only the gateway asks for: 5 kB, packed, of every visit. */
function withoutJsonSchema(): Plugin {
  return {
    name: 'without-json-schema',
    apply: 'build',
    transform: {
      filter: { id: /\/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/ },
      handler: (code) =>
        [...code.matchAll(/^export (?:const|function) (\w+)/gm)]
          .map(([, name]) => `export const ${name} = () => undefined`)
          .join('\n'),
    },
  }
}

/** Beside every script and style its packed form, so that the gateway need not pack while somebody waits. */
function packedFiles(): Plugin {
  return {
    name: 'packed-files',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((each) => /\.(js|css)$/.test(each))) {
        const file = join(dir, name)
        // The most there is: a few seconds of one build for 7 % of every first visit.
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
        writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params }))
      }
    },
  }
}
