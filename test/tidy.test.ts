// The conventions of this repository, enforced by tests: who may import whom, who owns which external dependency, the
// shape of a file, and that documents match the code. What a lint rule can enforce is in .oxlintrc.json instead.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { ERROR_CODES, GatewayError } from '../src/core/errors.ts'
import { METRICS } from '../src/telemetry/metrics.ts'
import { errorType } from '../src/wire/contract/errors.ts'
import { fileCycles, filesByFolder, folderCycles, readSources } from '../scripts/source-tree.ts'

const floors = (
  'core telemetry wire catalog store ledger providers routing ' +
  'access exchange admin edge config litellm provider-registry gateway cli'
).split(' ')

/** An external dependency, the pattern of its use, and the files that may use it. */
const owners = [
  { thing: 'kysely', use: /from 'kysely/, owner: /^src\/(store|ledger)\// },
  { thing: 'pg', use: /from 'pg'/, owner: /^src\/(store|ledger|litellm\/database)\// },
  {
    thing: 'node:sqlite',
    use: /from 'node:sqlite'/,
    owner: /^src\/store\/sqlite\/connection\.ts$/,
  },
  {
    thing: 'undici',
    use: /from 'undici'/,
    owner: /^src\/providers\/upstream\/(connections|http)\.ts$/,
  },
  {
    // More than its types: no command waits for it that sends nothing to a provider.
    thing: 'undici at run time',
    use: /^import (?!type\b)[^']*from 'undici'/m,
    owner: /^src\/providers\/upstream\/connections\.ts$/,
  },
  { thing: 'prom-client', use: /from 'prom-client'/, owner: /^src\/telemetry\/exposition\.ts$/ },
  {
    thing: 'OpenTelemetry',
    use: /from '@opentelemetry/,
    owner: /^src\/telemetry\/tracing\.ts$/,
  },
  { thing: 'node:http', use: /from 'node:https?'/, owner: /^src\/edge\// },
  { thing: 'a listener', use: /\bcreateServer\b/, owner: /^src\/edge\/server\.ts$/ },
  {
    thing: 'the time',
    use: /\bDate\.now\(|new Date\(\)|performance\.now\(/,
    owner: /^src\/core\/clock\.ts$/,
  },
  {
    thing: 'standard output',
    use: /process\.stdout|\bconsole\./,
    owner: /^src\/(telemetry\/log\.ts$|cli\/)/,
  },
  { thing: 'the environment', use: /process\.env/, owner: /^src\/(config|cli\/)/ },
]

/** These decide and translate; they have no side effects. */
const pure = /^src\/(core|wire|catalog|routing)\//
const effect =
  /from '(node:(fs|net|http|https|http2|tls|dgram|child_process|worker_threads|sqlite|process)|kysely|undici|pg)/

const drawers = new Set(
  'utils util helpers helper common shared misc service manager handler-utils types'.split(' '),
)

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
  .split('\n')
  .filter(existsSync)
const files = globSync('src/**/*.ts')
  .toSorted()
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
// Tests and their shared samples are not part of the product.
const sources = files.filter(({ path }) => !/(\.test|\/sample-[\w-]+)\.ts$/.test(path))

/** Loaded by path, not by import. */
const loaded = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/moduleBeside\(import\.meta\.url, '([\w-]+)'\)/g)].map(([, name = '']) =>
    join(dirname(path), `${name}.ts`),
  ),
)

describe('imports', () => {
  for (const { path, text } of files)
    test(`${path} imports only from its own floor and below`, () => {
      for (const target of importsOf(path, text)) {
        assert.ok(existsSync(target), `${target} does not exist`)
        // Samples stand on no floor: tests alone may use them.
        if (target.startsWith('test/samples/') && path.endsWith('.test.ts')) continue
        assert.ok(floorOf(target) <= floorOf(path), `${path} reaches up to ${target}`)
      }
    })

  for (const { path, text } of sources.filter((file) => pure.test(file.path)))
    test(`${path} has no effects`, () => assert.doesNotMatch(text, effect))
})

for (const root of ['src', 'web/src'])
  describe(`the shape of ${root}`, () => {
    const tree = readSources(root)

    test('no folder has more files than fit on a screen', () =>
      assert.deepEqual(
        filesByFolder(tree).filter(([, count]) => count > 16),
        [],
      ))

    test('no file is longer than a subject needs', () =>
      assert.deepEqual(
        tree.filter(({ lines }) => lines > 650).map(({ path }) => path),
        [],
      ))

    test('imports form no cycle: of values, of types, between folders', () => {
      assert.deepEqual(fileCycles(tree, 'valueImports'), [])
      assert.deepEqual(fileCycles(tree, 'imports'), [])
      assert.deepEqual(folderCycles(tree), [])
    })
  })

describe('owners', () => {
  for (const { thing, use, owner } of owners)
    test(`${thing} is used by its owner alone`, () => {
      const users = sources.filter(({ text }) => use.test(withoutComments(text)))
      assert.deepEqual(
        users.map(({ path }) => path).filter((path) => !owner.test(path)),
        [],
      )
    })
})

describe('documents', () => {
  test('docs/errors.md lists every code with its status and types, and no other', () => {
    const rows = readFileSync('docs/errors.md', 'utf8').matchAll(
      /^\| `(.*?)` \| (\d+) \| `(.*?)` \| `(.*?)` \|/gm,
    )
    const listed = [...rows].map(([, code, status, chat, messages]) => ({
      code,
      status: Number(status),
      chat,
      messages,
    }))
    const answered = ERROR_CODES.map((code) => ({
      code,
      status: new GatewayError(code, '').status,
      chat: errorType('chat', code),
      messages: errorType('messages', code),
    }))
    assert.deepEqual(listed, answered)
  })

  test('docs/operating/watch.md lists every metric, and no other', () => {
    const rows = readFileSync('docs/operating/watch.md', 'utf8').matchAll(
      /^\| `(tollgate_\w+)` \| (\w+) \| (.*?) \| \S/gm,
    )
    const listed = [...rows].map(([, name, type, labels = '']) => ({
      name,
      type,
      labels: labels.match(/\w+/g) ?? [],
    }))
    const told = Object.values(METRICS).map(({ name, type, labels }) => ({ name, type, labels }))
    assert.deepEqual(listed, told)
  })

  test('docs/operating/troubleshoot.md lists every warning and error of the log, and no other', () => {
    const rows = readFileSync('docs/operating/troubleshoot.md', 'utf8').matchAll(
      /^\| (?:warn|error) ((?:`\w+`(?:, )?)+) \|/gm,
    )
    const listed = new Set([...rows].flatMap(([, names = '']) => names.match(/\w+/g) ?? []))
    for (const { path, text } of sources)
      for (const [, event = ''] of text.matchAll(/\.(?:warn|error)\(\s*'(\w+)'/g))
        assert.ok(listed.has(event), `${event} of ${path}`)
    for (const event of listed)
      assert.ok(
        sources.some(({ text }) => text.includes(`'${event}'`)),
        event,
      )
  })

  test('docs/architecture.md lists the floors in order', () => {
    const [, list = ''] =
      readFileSync('docs/architecture.md', 'utf8').match(/`(core · [^`]*)`/) ?? []
    assert.deepEqual(list.replaceAll('.ts', '').split(' · '), floors)
  })

  test('docs/decisions/README.md lists every decision by its title', () => {
    const list = readFileSync('docs/decisions/README.md', 'utf8')
    for (const path of globSync('docs/decisions/0*.md')) {
      const [, title = ''] = readFileSync(path, 'utf8').match(/^# (.*)/) ?? []
      assert.ok(list.includes(`[${title}](${basename(path)})`), path)
    }
  })

  test('web/README.md lists every folder of the interface, and nothing that does not exist', () => {
    const rows = readFileSync('web/README.md', 'utf8').matchAll(/^\| `src\/([\w.]+)(\/?)`/gm)
    const listed = [...rows].map(([, name = '', slash]) => ({ name, isFolder: slash === '/' }))
    const found = readdirSync('web/src', { withFileTypes: true })
    const folders = found.filter((each) => each.isDirectory()).map(({ name }) => name)
    assert.deepEqual(
      listed
        .filter(({ isFolder }) => isFolder)
        .map(({ name }) => name)
        .toSorted(),
      folders.toSorted(),
    )
    for (const { name } of listed) assert.ok(existsSync(join('web/src', name)), name)
  })

  test('examples for other places than a checkout use the installed command', () => {
    // npx runs what is registered under a name where it finds nothing of that name.
    const examples = globSync('docs/**/*.md').flatMap((path) =>
      (readFileSync(path, 'utf8').match(/^ *```[^]*?^ *```/gm) ?? [])
        .filter((block) => block.includes('npx tollgate'))
        .map(() => path),
    )
    assert.deepEqual(examples, [])
    const told = tracked.filter((path) => /^(src|web\/src)\/.*\.(json|ts|tsx)$/.test(path))
    assert.deepEqual(
      told.filter((path) => /npx tollgate [a-z]/.test(readFileSync(path, 'utf8'))),
      [],
    )
  })

  test('no example takes the first block of a message for its text', () => {
    const shown = tracked.filter((path) => path.endsWith('.md') || path.startsWith('web/src/'))
    const first = /\bcontent\s*(\[0\]|\.at\(0\))\s*\??\.text\b/
    assert.deepEqual(
      shown.filter((path) => first.test(readFileSync(path, 'utf8'))),
      [],
    )
  })

  test('no link between documents is broken', () => {
    for (const path of tracked.filter((each) => each.endsWith('.md')))
      for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(
        /\]\((?!https?:|#|mailto:)([^)#]+)/g,
      ))
        assert.ok(
          existsSync(join(dirname(path), target)),
          `${path} links to ${target}, which does not exist`,
        )
  })
})

describe('files', () => {
  test('every source file is used by another one', () => {
    const imported = new Set(sources.flatMap(({ path, text }) => importsOf(path, text)))
    const unused = sources
      .map(({ path }) => path)
      .filter((path) => !imported.has(path) && !loaded.includes(path))
    assert.deepEqual(unused, ['src/cli/main.ts'])
  })

  test('every module loaded by path is built as a separate file', () => {
    assert.ok(loaded.length > 0)
    const builder = readFileSync('scripts/build.mjs', 'utf8')
    assert.deepEqual(
      loaded.filter((path) => !builder.includes(`'${path}'`)),
      [],
    )
  })

  test('every export is used elsewhere', () => {
    const readers = globSync('{src,web,test,bench,scripts}/**/*.{ts,tsx}', {
      exclude: ['**/node_modules'],
    }).map((path) => {
      const text = readFileSync(path, 'utf8')
      return { path, text, imports: importsOf(path, text), words: new Set(text.match(/\w+/g)) }
    })
    const isRead = (path: string, name: string): boolean =>
      readers.some(({ imports, words }) => words.has(name) && imports.includes(path))
    const pages = readers.filter(({ path }) => path.startsWith('web/src/'))
    const unread = [...sources, ...pages]
      .filter(({ path }) => !loaded.includes(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm)]
          .map(([, name = '']) => name)
          .filter((name) => !isRead(path, name))
          .map((name) => `${path}: ${name}`),
      )
    assert.deepEqual(unread, [])
  })

  test('git ignores the secret, the database and the spool, in whatever folder they are', () => {
    const names = ['secret', 'tollgate.db', 'tollgate.db-wal', 'tollgate.db-shm', 'spool/1.jsonl']
    const paths = ['', 'data/', 'some/where/'].flatMap((folder) =>
      names.map((name) => folder + name),
    )
    const check = ['check-ignore', '--no-index', ...paths, 'src/secret/file.ts']
    const ignored = execFileSync('git', check, { encoding: 'utf8' })
    assert.deepEqual(ignored.trim().split('\n'), paths)
  })

  test('test/ has no loose files', () => {
    const loose = tracked.filter((path) => /^test\/[^/]+$/.test(path))
    assert.deepEqual(loose, ['test/tidy.test.ts'])
  })

  test('every file states its purpose in its first line', () => {
    const silent = tracked
      .filter((path) => /\.(ts|tsx|mjs)$/.test(path))
      .filter((path) => !/^(#!.*\n)?\/[/*]/.test(readFileSync(path, 'utf8')))
    assert.deepEqual(silent, [])
  })

  test('no comment refers to a document outside the repository', () => {
    const elsewhere = /\b(design|reliability) §?\d/
    const texts = tracked.filter((path) => /\.(ts|tsx|mjs|md|ya?ml|css)$/.test(path))
    assert.deepEqual(
      texts.filter((path) => elsewhere.test(readFileSync(path, 'utf8'))),
      [],
    )
  })

  test('no file has a catch-all name', () => {
    const named = tracked.filter((path) => drawers.has(basename(path).replace(/\..*/, '')))
    assert.deepEqual(named, [])
  })

  test('every imported package is listed in package.json', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const imported = globSync('{src,web/src}/**/*.{ts,tsx}').flatMap((path) => {
      const specifiers = readFileSync(path, 'utf8').matchAll(
        /(?:from |import |import\()'([@\w][^':]*)'/g,
      )
      return [...specifiers].map(([, name = '']) =>
        name.split('/', name.startsWith('@') ? 2 : 1).join('/'),
      )
    })
    const known = new Set(Object.keys({ ...dependencies, ...devDependencies }))
    assert.deepEqual(
      [...new Set(imported)].filter((name) => !known.has(name)),
      [],
    )
  })

  test('every package that runs with the gateway has its reason in docs/decisions/0002', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const text = readFileSync('docs/decisions/0002-dependencies.md', 'utf8')
    const cells = [...text.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
    const explained = cells.flatMap((cell) => cell.match(/(?<=`)[\w@/-]+(?=`)/g) ?? [])
    assert.deepEqual(explained.toSorted(), Object.keys(dependencies).toSorted())
  })

  test('lockfiles name no download address', () => {
    for (const path of tracked.filter((each) => basename(each) === 'package-lock.json'))
      assert.doesNotMatch(readFileSync(path, 'utf8'), /"resolved"/, path)
  })

  test('no dependency runs a script when it is installed', () => {
    assert.doesNotMatch(readFileSync('package-lock.json', 'utf8'), /"hasInstallScript"/)
  })

  test('no committed file names a folder of one machine', () => {
    const machinePath = /(?<![\w.])\/(home|Users|root|work)\/\w/
    const texts = tracked.filter((path) => /\.(ts|tsx|mjs|json|md|ya?ml|html|css)$/.test(path))
    assert.deepEqual(
      texts.filter((path) => machinePath.test(readFileSync(path, 'utf8'))),
      [],
    )
  })
})

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/(?:from |import |import\()'(\.[^']+\.tsx?)'/g)].map(
    ([, specifier = '']) => join(dirname(path), specifier),
  )
}

function floorOf(path: string): number {
  const name = (path.split('/')[1] ?? '').replace(/(\.test)?\.ts$/, '')
  const floor = floors.indexOf(name)
  assert.notEqual(floor, -1, `${path} is on no floor`)
  return floor
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*/g, '')
}
