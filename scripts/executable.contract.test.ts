// The one-file executable does what the built CLI does: the same bytes, the same words, the same exit status.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { eventually, FREE, lastFirst, startFlotilla } from '../test/e2e/flotilla-process.ts'
import { bundle } from './bundle.ts'
import { makeExecutable } from './executable.ts'

const FILES: Readonly<Record<string, string>> = {
  'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
  'c/values.yaml': 'a: {b: 1}\n',
  'c/values.schema.json': '{"properties":{"a":{"type":"object"}}}',
  'c/templates/a.yaml':
    'a: {{ toJson .Values | quote }}\nsum: {{ sha256sum "x" }}\nat: {{ dateInZone "15:04 MST" (toDate "2006-01-02" "2026-01-02") "Asia/Tokyo" }}\n' +
    '{{ if .Values.fail }}{{ .Values.nope.deeper }}{{ end }}{{ if .Values.bad }}b: c: d{{ end }}\n',
  'random/Chart.yaml': 'apiVersion: v2\nname: random\nversion: 1.0.0\n',
  'random/templates/a.yaml':
    'a: {{ uuidv4 }} {{ randAlphaNum 20 }} {{ randInt 1000000000 2000000000 }}\nb: {{ genPrivateKey "ecdsa" | b64enc }}\n',
  'long/Chart.yaml': 'apiVersion: v2\nname: long\nversion: 1.0.0\n',
  'long/templates/a.yaml': 'a: 1\n{{ range until 1000 }}\n{{- range until 100000 }}{{ end }}{{ end }}\n',
  'k/kustomization.yaml': 'namePrefix: x-\nresources: [m.yaml]\n',
  'k/m.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n',
  'bin/flotilla-parent': "#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline\n",
  'bin/flotilla-hello': '#!/bin/sh\necho "a plugin: $*"\n',
}

/** Command lines; what `-f -` reads is in `STDIN`. */
const LINES: readonly (readonly string[])[] = [
  ['template', 'r', 'c'],
  ['template', 'r', 'c', '--helm', '3', '--set', 'a.b=2'],
  ['template', 'r', 'c', '-f', '-'],
  ['template', 'r', 'c', '--explain'],
  ['template', 'r', 'c', '--set', 'fail=true'],
  ['template', 'r', 'c', '--set', 'bad=true', '--debug'],
  ['template', 'r', 'c', '--set', 'a=1'],
  ['template', 'r', 'nowhere'],
  ['template', 'r', 'c', '--no-such-flag'],
  ['template', '--help'],
  ['template', 'long', '--time-limit', '1'],
  ['kustomize', 'build', 'k'],
  ['get', 'clusters'],
  ['hello', 'there'],
  ['no-such-command'],
  ['--version'],
  ['--help'],
  [],
]
const STDIN = 'a: {b: from-stdin, é: ü}\n'

const isLinux = process.platform === 'linux'

describe('the executable', { skip: isLinux ? false : 'it is made on Linux' }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'flotilla-executable-'))
  const work = join(dir, 'work')
  const executable = join(dir, 'elsewhere/flotilla')
  let snapshotInputs: readonly string[] = []
  before(async () => {
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(work, name)), { recursive: true })
      writeFileSync(join(work, name), text)
    }
    for (const name of readdirSync(join(work, 'bin'))) chmodSync(join(work, 'bin', name), 0o755)
    const dist = join(dir, 'dist')
    await bundle(dist)
    ;({ inputs: snapshotInputs } = await makeExecutable(dist))
    mkdirSync(dirname(executable))
    copyFileSync(join(dist, 'flotilla'), executable)
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  function run(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const [program = '', ...args] = command
    const home = { HOME: join(dir, 'home'), PATH: `${join(work, 'bin')}:${process.env['PATH']}`, LANG: 'C.UTF-8' }
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: work,
      input: STDIN,
      encoding: 'utf8',
      env: { ...home, TMPDIR: work, ...env },
    })
    return { status, stdout, stderr }
  }

  test('prints the same bytes and ends in the same way as the built CLI', () => {
    for (const line of LINES) {
      const wanted = run([process.execPath, join(dir, 'dist/flotilla.mjs'), ...line])
      assert.deepEqual(run([executable, ...line]), wanted, line.join(' '))
    }
    assert.equal(run([executable, 'template', 'r', 'c']).status, 0)
    assert.match(run([executable, 'template', 'long', '--time-limit', '1']).stderr, /ran for longer than it may/)
  })

  test('draws other random values in every run', () => {
    const [once, again] = [run([executable, 'template', 'random']), run([executable, 'template', 'random'])]
    const words = once.stdout.split(/\s+/).filter((word) => word.length > 8 && !word.includes('templates'))
    assert.equal(words.length, 4, once.stdout + once.stderr)
    for (const word of words) assert.ok(!again.stdout.includes(word), word)
  })

  test('runs what may live long with hashes of its own and V8’s usual flags', () => {
    const { stdout } = run([executable, 'parent', 'a word'])
    assert.match(stdout, / --node-options=--rehash-snapshot --v8-pool-size=4 .* parent a word $/)
  })

  test('keeps its parts for the next run, and does without where it may not write', () => {
    const parts = join(dir, 'home/.cache/flotilla/parts')
    const [own = '', ...others] = readdirSync(parts)
    assert.deepEqual(others, [])
    const old = join(parts, '0123456789abcdef'.repeat(2))
    mkdirSync(old)
    for (const folder of [old, join(parts, own)]) utimesSync(folder, 0, 0)
    run([executable, '--version'])
    assert.deepEqual(readdirSync(parts), [own], 'what an old version left is gone')
    assert.ok(statSync(join(parts, own)).mtimeMs > 0)
    const cache = join(work, 'v1.yaml') // a file: nothing can be below it
    writeFileSync(cache, '')
    assert.deepEqual(run([executable, '--version'], { XDG_CACHE_HOME: cache }), run([executable, '--version']))
    assert.deepEqual(
      readdirSync(work).filter((name) => name.startsWith('flotilla-parts-')),
      [],
    )
  })

  test('runs a hub that an agent joins, and both end when they are told to', async (t) => {
    const started = lastFirst(t)
    const env = { HOME: join(dir, 'home'), XDG_CACHE_HOME: '' }
    const start = (args: readonly string[]) => startFlotilla(started, args, { program: executable, env })
    const hub = start(['hub', 'run', '--data', join(dir, 'hub'), ...FREE])
    const [, kubeconfig = ''] = await hub.says(/ kubeconfig (\S+)\n/)
    const flotilla = async (...args: string[]) => await start([...args, '--kubeconfig', kubeconfig]).ended
    const added = await flotilla('cluster', 'add', 'store-1', '-o', 'json')
    const { code } = JSON.parse(added.stdout) as { code: string }
    // A hub's API is a cluster's API, too.
    const agent = start(['agent', 'run', '--join', code, '--kubeconfig', kubeconfig, '--data', join(dir, 'agent')])
    const shown = await eventually('the cluster has joined', async () => {
      const { stdout } = await flotilla('get', 'clusters')
      return /^store-1 +NotSelected /m.test(stdout) ? stdout : undefined
    })
    assert.match(shown, /^NAME +STATE /)
    assert.match((await flotilla('status')).stdout, /^Fleet +1 cluster .*1 NotSelected$/m)
    for (const running of [agent, hub]) {
      const { code: exit, signal } = await running.stop('SIGTERM')
      assert.deepEqual([exit, signal], [0, null])
    }
  })

  test('starts with no more than the template command', () => {
    const rooms = new Set(snapshotInputs.map((file) => /^src\/([^/]+)\//.exec(file)?.[1]))
    assert.ok(rooms.has('render') && rooms.has('yaml'))
    for (const room of ['hub', 'agent', 'client', 'apiserver', 'sim']) assert.ok(!rooms.has(room), room)
  })
})
