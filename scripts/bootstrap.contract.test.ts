// The bootstrap against a clone and an npm of the test's own making.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

const PINNED = { name: 'a-node', integrity: 'sha512-x' }
const platform = `${process.platform}-${process.arch}`

/** Stands in for npm: writes down how it was called, then installs a Node that is new enough, or fails on demand. */
const NPM = `
import fs from 'node:fs'
fs.appendFileSync(process.env.CALLS, process.argv.slice(2).join(' ') + '\\n')
if (process.env.NPM_FAILS) {
  console.error('npm error code EFAKE\\nnpm error the registry is on fire')
  process.exit(9)
}
fs.mkdirSync('node_modules/${PINNED.name}/bin', { recursive: true })
const main = process.env.CLONE + '/as-new-node.mjs'
fs.writeFileSync('node_modules/${PINNED.name}/bin/node',
  '#!/bin/sh\\n[ "$1" = --version ] && exit 0\\nexec ' + process.execPath + ' ' + main + ' "$@"\\n', { mode: 0o755 })
`

const MAIN = `
process.on('SIGTERM', () => process.exit(7))
console.log('main of ' + process.argv.slice(2).join(' '))
if (process.argv.includes('--heap')) console.log(Object.keys(process.env).filter((name) => name.startsWith('MALLOC_')).sort().join(' '))
if (process.argv.includes('wait')) setInterval(() => {}, 1000)
else process.exit(Number(process.argv.at(-1)) || 0)
`

interface Clone {
  readonly dir: string
  /** How npm was called, one line each. */
  npmCalls(): string[]
  start(args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ code: unknown; stdout: string; stderr: string }>
}

/** A clone whose bootstrap believes this Node to be new enough, or not. */
function makeClone(t: TestContext, { isOld }: { isOld: boolean }): Clone {
  const dir = mkdtempSync(join(tmpdir(), 'flotilla-clone-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'scripts'))
  cpSync(join(import.meta.dirname, 'bootstrap.mjs'), join(dir, 'scripts/bootstrap.mjs'))
  if (isOld) {
    const text = readFileSync(join(dir, 'scripts/bootstrap.mjs'), 'utf8')
    assert.match(text, /OLDEST_NODE = 26\n/)
    writeFileSync(join(dir, 'scripts/bootstrap.mjs'), text.replace('OLDEST_NODE = 26', 'OLDEST_NODE = 9999'))
  }
  const write = (file: string, text: string): void => writeFileSync(join(dir, file), text)
  write('scripts/node-pins.json', JSON.stringify({ version: '9999.0.0', packages: { [platform]: PINNED } }))
  write('package-lock.json', JSON.stringify({ packages: { 'node_modules/dep': { integrity: 'sha512-dep' } } }))
  write(
    'run.mjs',
    `import { launch } from './scripts/bootstrap.mjs'
const [needs, ...args] = process.argv.slice(2)
await launch({ needs, script: 'main.mjs', args })`,
  )
  // The command line of run.mjs, in the Node that the stand-in for npm installed.
  cpSync(join(import.meta.dirname, 'bootstrap.mjs'), join(dir, 'scripts/bootstrap-in-new-node.mjs'))
  write(
    'as-new-node.mjs',
    `import { launch } from './scripts/bootstrap-in-new-node.mjs'
await launch({ needs: process.argv[3], script: 'main.mjs', args: process.argv.slice(4) })`,
  )
  write('main.mjs', MAIN)
  write('npm-cli.js', NPM)
  write('package.json', '{ "type": "module" }')
  const start: Clone['start'] = (args, env) =>
    spawn(process.execPath, [join(dir, 'run.mjs'), ...args], {
      env: {
        PATH: process.env['PATH'],
        FLOTILLA_CACHE: join(dir, 'cache'),
        CALLS: join(dir, 'calls'),
        CLONE: dir,
        npm_execpath: join(dir, 'npm-cli.js'),
        ...env,
      },
    })
  return {
    dir,
    start,
    npmCalls: () => (existsSync(join(dir, 'calls')) ? readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n') : []),
    async run(args, env) {
      const child = start(args, env)
      let [stdout, stderr] = ['', '']
      child.stdout?.on('data', (text) => (stdout += text))
      child.stderr?.on('data', (text) => (stderr += text))
      const [code] = await once(child, 'close')
      return { code, stdout, stderr }
    },
  }
}

describe('the bootstrap', () => {
  test('installs what is needed once, says so in one line, and is silent then', async (t) => {
    const clone = makeClone(t, { isOld: false })
    const first = await clone.run(['prod', 'a'])
    assert.equal(first.stdout, 'main of a\n')
    assert.match(first.stderr, /^flotilla: installing dependencies[^\n]*\n$/)
    assert.equal((await clone.run(['prod', 'a'])).stderr, '')
    assert.equal(clone.npmCalls().length, 1)
    assert.match(clone.npmCalls()[0]!, /^ci --ignore-scripts .*--omit=dev$/)
  })

  test('installs again for dev dependencies and for another lockfile; dev is enough for prod', async (t) => {
    const clone = makeClone(t, { isOld: false })
    await clone.run(['prod'])
    await clone.run(['dev'])
    await clone.run(['prod'])
    assert.equal(clone.npmCalls().length, 2)
    assert.match(clone.npmCalls()[1]!, /--include=dev$/)
    writeFileSync(join(clone.dir, 'package-lock.json'), JSON.stringify({ packages: {} }))
    assert.equal((await clone.run(['none'])).code, 0)
    assert.equal(clone.npmCalls().length, 2)
    await clone.run(['prod'])
    assert.equal(clone.npmCalls().length, 2, 'an empty lockfile needs nothing')
  })

  test(
    'sets the memory options of glibc for long-lived commands, unless the environment has them',
    { skip: process.platform !== 'linux' && 'there is no glibc' },
    async (t) => {
      const ofHub = 'MALLOC_MMAP_THRESHOLD_ MALLOC_TOP_PAD_ MALLOC_TRIM_THRESHOLD_'
      for (const isOld of [false, true]) {
        const clone = makeClone(t, { isOld })
        const heapOf = async (args: readonly string[], env?: NodeJS.ProcessEnv) => {
          const { stdout } = await clone.run(['none', ...args, '--heap'], env)
          assert.equal(stdout.split('\n')[0], `main of ${args.join(' ')} --heap`)
          return stdout.split('\n')[1]
        }
        assert.equal(await heapOf(['hub', 'run']), ofHub)
        assert.equal(await heapOf(['demo']), `MALLOC_ARENA_MAX ${ofHub}`)
        assert.equal(await heapOf(['demo', 'status']), '')
        assert.equal(await heapOf(['hub', 'sign-in']), '')
        assert.equal(await heapOf(['hub', 'run'], { MALLOC_TOP_PAD_: '0' }), 'MALLOC_TOP_PAD_')
      }
    },
  )

  test('takes what npm installed by hand', async (t) => {
    const clone = makeClone(t, { isOld: false })
    mkdirSync(join(clone.dir, 'node_modules'))
    const installed = { packages: { 'node_modules/dep': { integrity: 'sha512-dep' } } }
    writeFileSync(join(clone.dir, 'node_modules/.package-lock.json'), JSON.stringify(installed))
    assert.equal((await clone.run(['dev'])).stderr, '')
    assert.deepEqual(clone.npmCalls(), [])
  })

  test('reports the place, the cause and a hint when npm fails, and leaves nothing half-made', async (t) => {
    const clone = makeClone(t, { isOld: true })
    const { code, stderr } = await clone.run(['prod'], { NPM_FAILS: '1' })
    assert.equal(code, 1)
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.length, 3, stderr)
    assert.match(lines[0]!, /^flotilla: fetching Node 9999\.0\.0 /)
    assert.match(
      lines[1]!,
      /^error: .*: cannot fetch Node 9999\.0\.0: npm ci ended with code 9: the registry is on fire$/,
    )
    assert.match(lines[2]!, /^hint: check the network/)
    assert.deepEqual(readdirSync(join(clone.dir, 'cache/node')), [])
  })

  test('fetches a newer Node once, also when two start at the same time, and gives back its exit code', async (t) => {
    const clone = makeClone(t, { isOld: true })
    const both = await Promise.all([clone.run(['none', '3']), clone.run(['none', '4'])])
    assert.deepEqual(
      both.map(({ code }) => code),
      [3, 4],
    )
    assert.deepEqual(readdirSync(join(clone.dir, 'cache/node')), ['9999.0.0'])
    assert.equal((await clone.run(['none', '5'])).stderr, '')
    const lockfile = join(clone.dir, 'cache/node/9999.0.0/package-lock.json')
    const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Record<string, object> }
    assert.deepEqual(packages[`node_modules/${PINNED.name}`], { version: '9999.0.0', integrity: PINNED.integrity })
  })

  test('hands signals on and waits for the end', async (t) => {
    const clone = makeClone(t, { isOld: true })
    const child = clone.start(['none', 'wait'])
    await once(child.stdout!, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [7, null])
  })

  test('leaves no child behind when it is killed', async (t) => {
    const clone = makeClone(t, { isOld: true })
    const child = clone.start(['none', 'wait'])
    await once(child.stdout!, 'data')
    child.kill('SIGKILL')
    // The grandchild holds the other end of this pipe as long as it lives.
    await once(child.stdout!.resume(), 'close')
  })
})
