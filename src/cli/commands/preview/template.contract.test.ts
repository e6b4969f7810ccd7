// `flotilla template` in its thread: limits, frozen values, refusals, and what it says about them.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runCli } from '../../run.ts'
import type { Terminal } from '../../print/terminal.ts'

const FILES: Readonly<Record<string, string>> = {
  'random/templates/a.yaml':
    'password: {{ randAlphaNum 20 }}\nid: {{ uuidv4 }}\nbytes: {{ .Values.b | default "x" }}\n',
  'long/templates/a.yaml': 'a: 1\n{{ range until 1000 }}\n{{- range until 100000 }}{{ end }}{{ end }}\n',
  'large/templates/a.yaml':
    'a: 1\n{{ $kept := dict }}{{ range $i := until 9000 }}\n{{- $_ := set $kept (toString $i) (until 50000) }}{{ end }}\n',
  'deep/templates/a.yaml': '{{ define "a" }}{{ template "a" }}{{ end }}\nb: {{ template "a" }}\n',
  'bad/templates/a.yaml': 'fine: true\n',
  'bad/templates/b.yaml': 'a: b: c\n',
}

describe('flotilla template in its thread', () => {
  let dir = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'template-thread-'))
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
      writeFileSync(join(dir, dirname(name), '../Chart.yaml'), 'apiVersion: v2\nname: c\nversion: 1.0.0\n')
    }
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  async function run(chart: string, ...flags: string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', '']
    const terminal = {
      data: (text: string) => void (out += text),
      say: (text: string) => void (err += `${text}\n`),
    } as unknown as Terminal
    const code = await runCli(['template', join(dir, chart), ...flags], {
      environment: {} as never,
      signal: new AbortController().signal,
      stdin: (async function* () {
        yield Buffer.from('b: from-stdin\n')
      })(),
      terminalFor: () => terminal,
    })
    return { code, out, err: err.replaceAll(dir, 'DIR') }
  }

  test('renders, and reads values from stdin', async () => {
    const { code, out } = await run('random', '-f', '-')
    assert.equal(code, 0)
    assert.match(out, /^---\n# Source: c\/templates\/a\.yaml\npassword: \w{20}\nid: [\w-]{36}\nbytes: from-stdin\n/)
  })

  test('a chart that goes on for ever is stopped, with its template and line', async () => {
    const { code, err } = await run('long', '--time-limit', '2')
    assert.equal(code, 1)
    assert.match(
      err,
      /^Error: c\/templates\/a\.yaml: the template ran for longer than it may; it was at c\/templates\/a\.yaml:3:/,
    )
  })

  test('a chart that takes all memory ends its thread only, with its template and line', async () => {
    const { code, err } = await run('large', '--memory-limit', '64')
    assert.equal(code, 1)
    const lines = err.split('\n')
    assert.match(
      lines[0]!,
      /^error: c\/templates\/a\.yaml:3:\d+: the chart needs more than 64 MiB of memory and was stopped$/,
    )
    assert.equal(lines[1], 'hint: check what this template makes, or raise the limit with --memory-limit MIB')
  })

  test('templates without an end are refused', async () => {
    const { code, err } = await run('deep')
    assert.equal(code, 1)
    assert.match(err, /^Error: c\/templates\/a\.yaml: templates are nested too deep/)
  })

  test('a limit is a number', async () => {
    const { code, err } = await run('random', '--time-limit', 'soon')
    assert.deepEqual([code, err], [1, 'error: invalid --time-limit "soon": must be a number above 0\n'])
  })

  test('frozen values are kept, private to the owner, and replayed', async () => {
    const file = join(dir, 'frozen.json')
    const first = await run('random', '--frozen', file)
    assert.equal(first.code, 0)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const kept = readFileSync(file, 'utf8')
    const second = await run('random', '--frozen', file)
    assert.equal(second.out, first.out)
    assert.equal(readFileSync(file, 'utf8'), kept)
    assert.notEqual((await run('random')).out, first.out)
    writeFileSync(file, '{')
    const broken = await run('random', '--frozen', file)
    assert.equal(broken.code, 1)
    assert.match(broken.err, /^error: DIR\/frozen\.json: cannot read the frozen values: .+\n$/)
  })

  test('--explain tells the template of each line and the layer of each value', async () => {
    const { code, out } = await run('random', '--set', 'b=given', '--explain')
    assert.equal(code, 0)
    assert.match(out, /^c\/templates\/a\.yaml:3\tbytes: given\tb from --set b=given$/m)
    assert.match(out, /^---\n# Values\nb\t"given"\t--set b=given$/m)
  })

  test('with --debug, documents that are not YAML are shown all the same', async () => {
    const { code, out, err } = await run('bad', '--debug')
    assert.equal(code, 1)
    assert.equal(out, '---\n# Source: c/templates/a.yaml\nfine: true\n\n---\n# Source: c/templates/b.yaml\na: b: c\n')
    assert.equal(
      err,
      'Error: YAML parse error on c/templates/b.yaml: error converting YAML to JSON: yaml: mapping values are not allowed in this context\n',
    )
  })

  test('what needs a cluster, the network or a plugin is refused by name, with a way out', async () => {
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--validate'], /^error: --validate requires a cluster.*\nhint: .*--engine official\n$/],
      [['--dry-run=server'], /^error: --dry-run=server requires a cluster/],
      [['--dry-run=maybe'], /^error: invalid --dry-run "maybe"\nhint: use one of client, true, unset\n$/],
      [['--enable-dns'], /^error: --enable-dns requires the network/],
      [['--verify'], /^error: --verify requires a provenance file/],
      [['--post-renderer', 'x'], /^error: --post-renderer of Helm 4 requires a plugin.*\nhint: .*--helm 3/],
      [['-f', 'https://h/v.yaml'], /^error: https:\/\/h\/v\.yaml: values are not fetched from addresses\n/],
      [['--include-crds=maybe'], /^error: invalid argument "maybe" for "--include-crds" flag: strconv\.ParseBool/],
      [['--timeout=zz'], /^error: invalid argument "zz" for "--timeout" flag: time: invalid duration "zz"\n$/],
      [['--set'], /^error: flag needs an argument: --set\n$/],
      [['--include-crds', '--frozen'], /^error: option '--frozen <file>' argument missing\n/],
    ]
    for (const [flags, wanted] of cases) {
      const { code, out, err } = await run('random', ...flags)
      assert.match(err, wanted)
      assert.ok(code === 1 || code === 2)
      assert.equal(out, '')
    }
    const remote = await run('../nothing', '--repo', 'https://charts.example.org')
    assert.match(
      remote.err,
      /^error: chart https:\/\/charts\.example\.org .*nothing is not on this disk; this command does not fetch charts\nhint: .*helm pull/,
    )
  })
})
