// Serves the built web interface: files with a hash in their name may be cached for ever, the page itself never, and no
// page may load anything from elsewhere.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { LINK_PAGES } from '../admin/contract/sign-in.ts'
import { codeOf } from '../core/errors.ts'
import { ClientGone } from '../exchange/reply.ts'

export type WebFiles = {
  /** Sends the file at a path; false when there is none. To a browser every other path is a view of the page. */
  serve(path: string, message: IncomingMessage, response: ServerResponse): Promise<boolean>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

const SAFETY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

export function webFiles(root: string): WebFiles {
  return {
    async serve(path, { headers, method }, response) {
      const isView = extname(path) === '' && (isPage(path) || headers.accept?.includes('text/html'))
      const found = isView ? join(root, 'index.html') : inside(root, path)
      const file = found === undefined ? undefined : await fileAt(found)
      if (file === undefined) return false
      // Files that the build has compressed are sent compressed to clients that accept it.
      const isPackable = /(^|[\s,])br\s*(,|$)/.test(String(headers['accept-encoding'] ?? ''))
      const packed = isPackable ? await fileAt(`${file.path}.br`) : undefined
      const sent = packed ?? file
      response.writeHead(200, {
        ...SAFETY,
        'content-type': TYPES[extname(file.path)] ?? 'application/octet-stream',
        'content-length': sent.bytes,
        ...(packed !== undefined && { 'content-encoding': 'br' }),
        vary: 'accept-encoding',
        'cache-control': path.startsWith('/assets/')
          ? 'public, max-age=31536000, immutable'
          : 'no-cache',
      })
      if (method === 'HEAD') response.end()
      else await send(sent, response)
      return true
    },
  }
}

async function send({ path, bytes }: FoundFile, response: ServerResponse): Promise<void> {
  // A pipeline into a response that is already closed would leave the file open.
  if (response.destroyed) throw new ClientGone()
  // Told where the file ends, it need not read on to find out. Many clients close on the last byte, and would seem to
  // have left before the end.
  const content = createReadStream(path, { end: Math.max(bytes - 1, 0) })
  try {
    await pipeline(content, response)
  } catch (error) {
    throw codeOf(error) === CLOSED_EARLY ? new ClientGone() : error
  }
}

type FoundFile = { readonly path: string; readonly bytes: number }

const CLOSED_EARLY = 'ERR_STREAM_PREMATURE_CLOSE'

/** Paths that are always pages, whatever the client accepts. */
function isPage(path: string): boolean {
  const pages = ['/', '/settings', '/sign-in', ...Object.values(LINK_PAGES)]
  return pages.includes(path) || path.startsWith('/settings/')
}

/** The file that a path names, or undefined if it would lead out of the folder. */
function inside(root: string, path: string): string | undefined {
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    return undefined
  }
  const file = normalize(join(root, decoded))
  return file.startsWith(join(root, '/')) && !decoded.includes('\0') ? file : undefined
}

async function fileAt(path: string): Promise<FoundFile | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() ? { path, bytes: found.size } : undefined
  } catch {
    return undefined
  }
}
