// Settlements that the database would not take in time, on this node's own disk: written, synced, then acknowledged.
// Replaying one twice does no harm, because a hold is settled once. Knows nothing of the books.
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { codeOf } from '../core/code-of.ts'
import { messageOf } from '../core/message-of.ts'
import { makeFolder } from '../store/make-folder.ts'
import type { Charge, PriceRow } from './books.ts'

export type Spooled = { readonly charge: Charge; readonly price: PriceRow | undefined }

type Line = {
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Where settlements wait, under a name that no other process has, had or will have. */
const newPath = (folder: string): string => join(folder, `settlements-${randomUUID()}.jsonl`)
const NAME = /^settlements-[\w-]+\.jsonl$/

type OpenFile = { readonly path: string; readonly handle: FileHandle }

export class Spool {
  readonly #folder: string
  #file: OpenFile | undefined
  #lines: Line[] = []
  /** On the disk and not yet in the database. */
  #waiting = 0
  /** The file may have something in it. */
  #isUsed = false
  #isWorking = false
  #work: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves when it is on the disk. What comes while the disk is busy shares the next sync. */
  append(spooled: Spooled): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lines.push({ text: toLine(spooled), resolve, reject })
      this.#wake()
    })
  }

  /** One of ours has reached the database; when the last one has, the file is emptied. */
  done(): void {
    this.#waiting -= 1
    this.#wake()
  }

  async close(): Promise<void> {
    await this.#work
    await this.#file?.handle.close()
    if (this.#file !== undefined && this.#waiting === 0) rmSync(this.#file.path, { force: true })
    this.#file = undefined
  }

  #wake(): void {
    if (!this.#isWorking) this.#work = this.#write()
  }

  /** One thing at a time: emptying the file beside an append could take with it what was just acknowledged. */
  async #write(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      if (this.#waiting === 0 && this.#isUsed) await this.#empty()
      else if (this.#lines.length > 0) await this.#writeLines(this.#lines.splice(0))
      else break
    }
    this.#isWorking = false
  }

  async #writeLines(lines: readonly Line[]): Promise<void> {
    try {
      await this.#sync(lines.map((line) => line.text).join(''))
      this.#waiting += lines.length
      for (const line of lines) line.resolve()
    } catch (error) {
      for (const line of lines) line.reject(error)
    }
  }

  /** Whoever takes our file renames it before reading it: what is synced while it has its name will be read. */
  async #sync(text: string): Promise<void> {
    do {
      this.#file ??= await openIn(this.#folder)
      this.#isUsed = true
      await this.#file.handle.appendFile(text)
      await this.#file.handle.datasync()
    } while (await this.#isTaken(this.#file))
  }

  async #isTaken({ path, handle }: OpenFile): Promise<boolean> {
    if (existsSync(path)) return false
    this.#file = undefined
    await handle.close()
    return true
  }

  /** What stays behind if this fails is replayed by the next process, which does no harm. */
  async #empty(): Promise<void> {
    this.#isUsed = false
    await this.#file?.handle.truncate(0).catch(() => {})
  }
}

/** Why nothing could be kept here, while there is time to mend it. */
export function whyUnusable(folder: string): string | undefined {
  try {
    makeFolder(folder, 0o700)
    accessSync(`${folder}/`, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

export type Leftover = {
  readonly settlements: readonly Spooled[]
  remove(): void
  /** Keeps it out of the way, for a person to look at; returns where, unless another has taken it. */
  setAside(): string | undefined
}

/**
 * What others could not bring into the database, each taken when it is asked for. Nobody asks whether its writer lives:
 * one that does begins another file.
 */
export function* leftovers(folder: string): Generator<Leftover> {
  for (const name of namesIn(folder)) {
    // Of several who want it, one gets it; if that one dies before it is done, it has left it to the next.
    const path = moved(join(folder, name), newPath(folder))
    const text = path && unlessTaken(() => readFileSync(path, 'utf8'))
    if (path === undefined || text === undefined) continue
    yield {
      settlements: text.split('\n').flatMap(fromLine),
      remove: () => rmSync(path, { force: true }),
      setAside: () => moved(path, `${path}.set-aside`),
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name))
  } catch {
    // Nothing was ever spooled here.
    return []
  }
}

/** Where the file is now. */
function moved(from: string, to: string): string | undefined {
  return unlessTaken(() => {
    renameSync(from, to)
    return to
  })
}

/** Undefined when another has taken the file in between. */
function unlessTaken<Result>(use: () => Result): Result | undefined {
  try {
    return use()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** A line break on both sides: whatever a failed write left in between stays a line of its own. */
function toLine({ charge, price }: Spooled): string {
  const cost = charge.costNanodollars.toString()
  return `\n${JSON.stringify({ charge: { ...charge, costNanodollars: cost }, price })}\n`
}

/** A line that was cut off was never acknowledged to anybody. */
function fromLine(line: string): Spooled[] {
  try {
    const { charge, price } = JSON.parse(line) as { charge: Charge; price?: PriceRow }
    return [{ charge: { ...charge, costNanodollars: BigInt(charge.costNanodollars) }, price }]
  } catch {
    return []
  }
}

async function openIn(folder: string): Promise<OpenFile> {
  makeFolder(folder, 0o700)
  const path = newPath(folder)
  const handle = await open(path, 'a', 0o600)
  await syncFolder(folder)
  return { path, handle }
}

/** A file is only there after a crash once its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
