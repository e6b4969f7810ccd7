// `flotilla template` against both real helms: every flag, what is printed, what is written, and the exit status.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Command } from 'commander'
import { readEnvironment } from '../../config.ts'
import { runCli } from '../../run.ts'
import { takeWritten } from '../../../testing/helm/run-command.ts'
import { findBinary } from '../../../testing/testenv.ts'
import type { Terminal } from '../../print/terminal.ts'
import { addTemplateFlags, commanderArgs, HELM_FLAG_NAMES } from '../../template/helm-flags.ts'
import { renderRequest } from '../../template/render-request.ts'
import { template } from './template.ts'
import type { TemplateInput } from './template.ts'

const FILES: Readonly<Record<string, string>> = {
  'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
  'c/values.yaml': 'a: {b: 1}\nlist: [x]\n',
  'c/values.schema.json': '{"properties":{"a":{"type":"object"}}}',
  'c/crds/x.yaml': 'kind: CustomResourceDefinition\n',
  'c/templates/_h.tpl': '{{ define "fails" }}{{ .Values.nope.deeper }}{{ end }}',
  'c/templates/a.yaml':
    'kind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}\n' +
    'values: {{ toJson .Values | quote }}\nupgrade: {{ .Release.IsUpgrade }}\nkube: {{ .Capabilities.KubeVersion }}\n' +
    'apis: {{ .Capabilities.APIVersions.Has "x/v1" }} {{ .Capabilities.APIVersions.Has "y/v2" }}\n' +
    '{{ if .Values.fail }}{{ include "fails" . }}{{ end }}---\nkind: Service\nmetadata: {name: s}\n',
  'c/templates/sub/t.yaml': 'kind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n',
  'c/templates/h.yaml': 'kind: Job\nmetadata: {name: h, annotations: {helm.sh/hook: pre-install}}\n',
  'needs/Chart.yaml': 'apiVersion: v2\nname: needs\nversion: 1.0.0\ndependencies: [{name: other, version: 1.x}]\n',
  'linked/Chart.yaml': 'apiVersion: v2\nname: linked\nversion: 1.0.0\n',
  'gone/Chart.yaml': 'apiVersion: v2\nname: gone\nversion: 1.0.0\n',
  'chain/Chart.yaml': 'apiVersion: v2\nname: chain\nversion: 1.0.0\n',
  'nothing/README.md': 'no chart\n',
  'odd/Chart.yaml/README.md': 'no chart\n',
  'short.tgz': 'no archive\n',
  'long.tgz': 'no archive\n'.repeat(60),
  'page.tgz': ' <!doctype html>\n<title>Not found</title>\n',
  'feed.tgz': '<?xml version="1.0"?>\n',
  'zip.tgz': 'PK\x03\x04',
  'v1.yaml': 'a: {b: 2, c: null}\nlist: null\n',
  'v2.yaml': 'a: {d: 0644}\n',
  'post.sh': '#!/bin/sh\nsed s/ConfigMap/Changed/\necho "# $*"\n',
  'broken.sh': '#!/bin/sh\necho said >&2\nexit 3\n',
  'silent.sh': '#!/bin/sh\ncat > /dev/null\n',
}

/** Links of which some lead nowhere. */
const LINKS: Readonly<Record<string, string>> = {
  'linked/templates': '../c/templates',
  'gone/templates': '../no/such/place',
  'chain/templates': 'next',
  'chain/next': '../linked/templates/sub/nothing/there',
}

/** Command lines that both must answer in the same way; a third part names what only that helm knows. */
const LINES: readonly (readonly [line: readonly string[], only?: 'helm3' | 'helm4'])[] = [
  [['c']],
  [['r', 'c']],
  [['-g', 'c']],
  [['r', 'c', '-g']],
  [['r', 'c', '--generate-name=false']],
  [['--name-template', '{{ upper "A" | lower }}-{{ len "abc" }}', 'c']],
  [['--name-template', '{{ nope }}', 'c']],
  [['--name-template', '{{ fail }}', 'c']],
  [['--name-template', '{{ toYaml "x" }}', 'c']],
  [['r', 'c', '--name-template', 'y']],
  [['--name-template', 'A', 'c']],
  [['a', 'b', 'c']],
  [['r', 'c', '-n', 'ns']],
  [['r', 'c', '--namespace=ns', '--is-upgrade']],
  [['r', 'c', '--include-crds']],
  [['r', 'c', '--include-crds=true', '--skip-crds']],
  [['r', 'c', '--include-crds=false']],
  [['r', 'c', '--no-hooks']],
  [['r', 'c', '--no-hooks=false', '--skip-tests']],
  [['r', 'c', '--skip-tests=T', '--include-crds']],
  [['r', 'c', '-f', 'v1.yaml']],
  [['r', 'c', '-f', 'v1.yaml,v2.yaml']],
  [['r', 'c', '-fv1.yaml', '--values=v2.yaml']],
  [['r', 'c', '-f=v1.yaml']],
  [['r', 'c', '-f', 'v2.yaml', '-f', 'v1.yaml', '--set', 'a.d=1,a.e={x,y}']],
  [['r', 'c', '-f', 'nope.yaml']],
  [['r', 'c', '-f', 'v1.yaml,nope.yaml']],
  [['r', 'c', '--set', 'a.b=-5', '--set=list[2]=z']],
  [['r', 'c', '--set', '-x=1']],
  [['r', 'c', '--set', 'a']],
  [['r', 'c', '--set', 'a=b=c,d']],
  [['r', 'c', '--set-string', 'a.b=5', '--set-literal', 'a.l=x,y\\z', '--set-json', 'a.j={"k":[1,null]}']],
  [['r', 'c', '--set-json', '{"a":{"b":9}}'], 'helm4'],
  [['r', 'c', '--set-file', 'a.f=v2.yaml']],
  [['r', 'c', '--set-file', 'a.f=nope']],
  [['r', 'c', '--set', 'a=5']],
  [['r', 'c', '--set', 'a=5', '--skip-schema-validation']],
  [['r', 'c', '--set', 'fail=true']],
  [['r', 'c', '--kube-version', 'v1.20.3']],
  [['r', 'c', '--kube-version', 'abc']],
  [['r', 'c', '-a', 'x/v1', '--api-versions', 'y/v2']],
  [['r', 'c', '--api-versions=x/v1,y/v2']],
  [['r', 'c', '-s', 'templates/a.yaml']],
  [['r', 'c', '-s', 'templates/sub/t.yaml', '--show-only=templates/h.yaml']],
  [['r', 'c', '-s', 'templates/*.yaml']],
  [['r', 'c', '-s', 'crds/x.yaml', '--include-crds']],
  [['r', 'c', '-s', 'templates/nope.yaml']],
  [['r', 'c', '--output-dir', 'OUT', '--include-crds']],
  [['r', 'c', '--output-dir', 'OUT', '--release-name', '--no-hooks']],
  [['r', 'c', '--dry-run=client']],
  [['r', 'c', '--dry-run']],
  [['r', 'c', '--wait', '--timeout', '5m', '--create-namespace', '--description', 'x', '--labels', 'a=b']],
  [['r', 'c', '--atomic', '--force', '--hide-notes', '--render-subchart-notes'], 'helm3'],
  [['r', 'c', '--force-replace', '--server-side', '--rollback-on-failure'], 'helm4'],
  [['r', 'c', '--kube-context', 'x', '--kube-token', 'y', '--qps', '5', '--burst-limit', '9']],
  [['r', 'c', '--version', '1.2.3', '--devel', '--username', 'u', '--password', 'p', '--plain-http']],
  [['r', 'c', '--dependency-update']],
  [['r', 'needs']],
  [['r', 'linked']],
  [['r', 'gone']],
  [['r', 'chain']],
  [['r', 'c', '--post-renderer', './post.sh', '--post-renderer-args', 'x', '--post-renderer-args', 'y,z'], 'helm3'],
  [['r', 'c', '--post-renderer', './post.sh', '-s', 'templates/a.yaml', '--include-crds'], 'helm3'],
  [['r', 'c', '--post-renderer', './broken.sh'], 'helm3'],
  [['r', 'c', '--post-renderer', './silent.sh'], 'helm3'],
  [['r', 'c', '--post-renderer', './missing.sh'], 'helm3'],
  [['r', 'c', '--set', 'a.b[']],
  [['r', 'c', '--set-string', 'a.c=1,list[0']],
  [['r', 'c', '--set-literal', 'a.c[1][']],
  [['r', 'c', '--set-json', 'a.c[0].d[']],
  [['r', 'c', '--set-file', '[']],
  [['r', 'c', '-f', '', '--api-versions=', '--repo=', '--kube-as-group=']],
  [['r', 'c', '--burst-limit=0x1_0', '--qps=1e3', '--timeout=1h.5m', '--wait=true', '-l', 'a=b,c'], 'helm3'],
  [['r', 'c', '--wait=hookOnly', '--dry-run=true', '--colour', 'auto'], 'helm4'],
  [['r', 'c', '--wait=false', '--dry-run='], 'helm3'],
  [['r', './nothing-here']],
  [['r', 'nothing-here']],
  [['r', 'repo/chart']],
  [['r', 'v1.yaml']],
  [['r', 'nothing']],
  [['r', './odd']],
  [['r', 'short.tgz']],
  [['r', 'long.tgz']],
  [['r', 'page.tgz']],
  [['r', 'feed.tgz']],
  [['r', 'zip.tgz']],
]

/** Command lines that both refuse, in words that may be ours. */
const REFUSED: readonly (readonly [line: readonly string[], words: RegExp, only?: 'helm3' | 'helm4'])[] = [
  [['r', 'c', '--timeout', '5'], /invalid argument "5" for "--timeout" flag: time: missing unit in duration "5"/],
  [['r', 'c', '--timeout', '1h5x'], /: time: unknown unit "x" in duration "1h5x"/],
  [['r', 'c', '--timeout='], /: time: invalid duration ""/],
  [['r', 'c', '--qps', '0x1'], /"0x1" for "--qps" flag: strconv\.ParseFloat: parsing "0x1": invalid syntax/],
  [
    ['r', 'c', '--burst-limit', '1.5'],
    /"1\.5" for "--burst-limit" flag: strconv\.ParseInt: parsing "1\.5": invalid syntax/,
  ],
  [
    ['r', 'c', '-l', 'a=b,c,d=e'],
    /invalid argument "a=b,c,d=e" for "-l, --labels" flag: c must be formatted as key=value/,
  ],
  [['r', 'c', '--labels='], /invalid argument "" for "-l, --labels" flag: {2}must be formatted as key=value/],
  [['r', 'c', '--no-hooks=x'], /"x" for "--no-hooks" flag: strconv\.ParseBool: parsing "x": invalid syntax/],
  [['r', 'c', '--set'], /flag needs an argument: --set/],
  [['r', 'c', '--nope'], /--nope/],
  [['r', 'c', '--wait=bad'], /bad/],
  [['r', 'c', '--wait=watcher'], /watcher/, 'helm3'],
  [['r', 'c', '--dry-run=bad'], /dry-run/],
  [['r', 'c', '--dry-run=false'], /false/, 'helm4'],
  [['r', 'c', '--repo', 'file:///nope'], /nope/, 'helm4'],
  [['r', 'c', '--verify'], /verif/],
  [[], /argument/],
]

interface Outcome {
  readonly code: number
  readonly out: string
  readonly error: string
  readonly written: string
}

/** Threads are for another test: a render in place is ten times as fast to start. */
const inPlace: NonNullable<TemplateInput['render']> = (request, { warn }) =>
  Promise.resolve().then(() => renderRequest(request, { warn, watch: () => 'go on' }))

describe('flotilla template', () => {
  let dir = ''
  let home = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'template-cli-'))
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
      if (name.endsWith('.sh')) chmodSync(join(dir, name), 0o755)
    }
    for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(dir, name))
    home = process.cwd()
    process.chdir(dir)
  })
  after(() => {
    process.chdir(home)
    rmSync(dir, { recursive: true, force: true })
  })

  async function ours(args: readonly string[]): Promise<Outcome & { readonly err: string }> {
    let out = ''
    let err = ''
    const terminal = {
      data: (text: string) => void (out += text),
      say: (text: string) => void (err += `${text}\n`),
      step: (sign: string, text: string) => void (err += `${sign} ${text}\n`),
    } as unknown as Terminal
    const stdin = (async function* () {
      yield Buffer.from('a: {b: from-stdin}\n')
    })()
    const command = addTemplateFlags(new Command().argument('<words...>'))
    command.parse(commanderArgs(args), { from: 'user' })
    const code = await template(command.args, { terminal, stdin, render: inPlace }, command.opts())
    return { code, out, err, error: errorOf(err), written: takeWritten(dir) }
  }

  async function real(binary: string, args: readonly string[]): Promise<Outcome> {
    return await new Promise((resolve) => {
      execFile(binary, ['template', ...args], { cwd: dir }, (error, out, err) => {
        const code = error ? Number(error.code) : 0
        resolve({ code, out, error: errorOf(err), written: takeWritten(dir) })
      })
    })
  }

  function errorOf(stderr: string): string {
    const at = stderr.search(/^Error: /m)
    return at < 0 ? '' : stderr.slice(at).trim()
  }

  for (const version of ['helm4', 'helm3'] as const) {
    const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
    const skip = binary === undefined ? `no binary for ${version}` : false
    const rules = ['--helm', version === 'helm4' ? '4' : '3']

    test(`${version}: every flag does what helm’s does`, { skip }, async () => {
      const different: string[] = []
      for (const [line, only] of LINES) {
        if (only !== undefined && only !== version) continue
        const wanted = await real(binary!, line)
        const { err: _err, ...got } = await ours([...line, ...rules])
        if (JSON.stringify(wanted) === JSON.stringify(got)) continue
        different.push(`${line.join(' ')}\n  helm ${JSON.stringify(wanted)}\n  ours ${JSON.stringify(got)}`)
      }
      assert.deepEqual(different, [], different.join('\n'))
    })

    test(`${version}: what helm refuses is refused, with its exit status`, { skip }, async () => {
      for (const [line, words, only] of REFUSED) {
        if (only !== undefined && only !== version) continue
        const wanted = await real(binary!, line)
        let err = ''
        const code = await runCli(['template', ...rules, ...line], {
          environment: readEnvironment({}),
          signal: new AbortController().signal,
          stdin: process.stdin,
          terminalFor: () => ({ say: (text: string) => void (err += `${text}\n`) }) as unknown as Terminal,
        })
        assert.deepEqual([code, wanted.code], [1, 1], `${line.join(' ')}: ${err}`)
        assert.match(err, words)
      }
    })

    test(`${version}: every flag of its help is known`, { skip }, async () => {
      const help = await new Promise<string>((resolve) => {
        execFile(binary!, ['template', '--help'], (_error, out) => resolve(out))
      })
      const names = [...help.matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map((match) => match[1]!)
      const elsewhere = ['help', 'kubeconfig', 'color']
      const unknown = names.filter((name) => !HELM_FLAG_NAMES.includes(name) && !elsewhere.includes(name))
      assert.deepEqual(unknown, [])
      assert.ok(names.length > 60)
    })

    test(`${version}: the official engine and the shadow run the binary`, { skip }, async () => {
      const flags = [...rules, '--helm-binary', binary!, '--set', 'a.b=7', '-f', '-']
      const plain = await ours(['r', 'c', ...flags])
      const official = await ours(['r', 'c', ...flags, '--engine', 'official'])
      assert.deepEqual([official.code, official.out], [plain.code, plain.out])
      const shadow = await ours(['r', 'c', ...flags, '--shadow'])
      assert.deepEqual([shadow.code, shadow.out, shadow.err], [0, plain.out, 'ok helm prints the same output\n'])
      const failing = await ours(['r', 'c', ...flags, '--engine', 'official', '--set', 'fail=true'])
      assert.equal(failing.code, 1)
      assert.match(failing.err, /nil pointer evaluating interface \{\}\.deeper/)
    })
  }

  test(
    'a shadow that differs is shown with the first line',
    { skip: findBinary('helm') ? false : 'no helm' },
    async () => {
      const other = await ours(['r', 'c', '--helm', '3', '--helm-binary', findBinary('helm')!, '--shadow'])
      assert.equal(other.code, 1)
      assert.match(
        other.err,
        /^fail the output of helm differs from line \d+\n {2}helm: .*v1\.36\.0.*\n {2}flotilla: .*v1\.33\.0/,
      )
    },
  )
})
