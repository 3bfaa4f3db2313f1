// Keeps settlements that the database did not take in time on this node's disk: written, synced, then acknowledged.
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
import { codeOf, messageOf } from '../../core/errors.ts'
import type { Usage } from '../../core/events.ts'
import { makeFolder, syncFolder } from '../../store/sqlite/files.ts'
import type { HoldId } from '../ledger.ts'
import type { Charge, PriceRow } from '../rules/rows.ts'

export type Spooled = { readonly charge: Charge; readonly price: PriceRow | undefined }

type Line = {
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** A new spool file, under a name that no other process has used or will use. */
const newPath = (folder: string): string => join(folder, `settlements-${randomUUID()}.jsonl`)
const NAME = /^settlements-[\w-]+\.jsonl$/

type OpenFile = { readonly path: string; readonly handle: FileHandle }

export class Spool {
  readonly #folder: string
  #file: OpenFile | undefined
  #lines: Line[] = []
  /** How many settlements are on the disk and not yet in the database. */
  #waiting = 0
  /** Whether the file may have something in it. */
  #isUsed = false
  #isWorking = false
  #work: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves when the settlement is on the disk. Those that arrive while the disk is busy share the next sync. */
  append(spooled: Spooled): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lines.push({ text: toLine(spooled), resolve, reject })
      this.#wake()
    })
  }

  /** One of the settlements has reached the database; when the last one has, the file is emptied. */
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

  /** One step at a time: emptying the file during an append could delete what was just acknowledged. */
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

  /**
   * A process that takes the file renames it before reading it. If the file still has its name after the sync, the text
   * will be read; if not, it is written again to a new file.
   */
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

/** Why the folder cannot be used, checked early, while there is time to repair it. */
export function whyUnusable(folder: string): string | undefined {
  try {
    makeFolder(folder)
    accessSync(`${folder}/`, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

export type Leftover = {
  readonly settlements: readonly Spooled[]
  readonly remove: () => void
  /** Moves the file aside for an operator to look at; returns its new path, unless another process has taken it. */
  readonly setAside: () => string | undefined
}

/**
 * The spool files of other processes, each taken when the caller gets to it. It does not matter whether the writer is
 * still alive: if so, it begins another file. One that cannot be used, such as that of another user, is left to a
 * process that can.
 */
export function* leftovers(
  folder: string,
  onUnusable: (reason: string) => void = () => {},
): Generator<Leftover> {
  for (const name of namesIn(folder)) {
    const path = newPath(folder)
    let text: string
    try {
      // Only one process wins the rename; if it dies before it is done, the file is there for the next one.
      renameSync(join(folder, name), path)
      text = readFileSync(path, 'utf8')
    } catch (error) {
      if (!isGone(error)) onUnusable(messageOf(error))
      continue
    }
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

/** The file's new path; undefined when another process has taken it. */
function moved(from: string, to: string): string | undefined {
  try {
    renameSync(from, to)
    return to
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Whether another process has taken the file in between. */
function isGone(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

/** Line breaks on both sides: what a failed write left behind stays on a separate line. */
function toLine({ charge, price }: Spooled): string {
  const cost = charge.costNanodollars.toString()
  return `\n${JSON.stringify({ charge: { ...charge, costNanodollars: cost }, price })}\n`
}

const UNNAMED = { groupId: null, traceId: null }

/** As charges were once written; some may still lie on a disk. */
type FormerCharge = Omit<Charge, 'id'> & { readonly holdId: HoldId; readonly tokens: Usage }

/** A line that was cut off is dropped: it was never acknowledged. */
function fromLine(line: string): Spooled[] {
  try {
    const parsed = JSON.parse(line) as { charge: Charge | FormerCharge; price?: PriceRow }
    const charge = 'holdId' in parsed.charge ? renamed(parsed.charge) : parsed.charge
    const costNanodollars = BigInt(charge.costNanodollars)
    // Before there were groups and traces, no charge named one.
    return [{ charge: { ...UNNAMED, ...charge, costNanodollars }, price: parsed.price }]
  } catch {
    return []
  }
}

function renamed({ holdId: id, tokens, ...rest }: FormerCharge): Charge {
  return { ...rest, ...tokens, id }
}

async function openIn(folder: string): Promise<OpenFile> {
  makeFolder(folder)
  const path = newPath(folder)
  const handle = await open(path, 'a', 0o600)
  await syncFolder(folder)
  return { path, handle }
}
