import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Terminal } from '../../print/terminal.ts'
import { kustomizeBuild } from './kustomize.ts'
import type { KustomizeFlags } from './kustomize.ts'

function scratch(files: Record<string, string>): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'kustomize-cli-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

function run(dir: string, flags: KustomizeFlags = {}): { code: number; out: string; err: string } {
  let out = ''
  let err = ''
  const terminal = {
    data: (text: string) => void (out += text),
    say: (text: string) => void (err += `${text}\n`),
  } as unknown as Terminal
  return { code: kustomizeBuild(dir, terminal, flags), out, err }
}

const FILES = {
  'kustomization.yaml': 'resources: [a.yaml]\ncommonLabels: {x: z}\n',
  'a.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n' +
    '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\n',
}

test('objects go to stdout, warnings to stderr', () => {
  const { dir, remove } = scratch(FILES)
  try {
    const { code, out, err } = run(dir)
    assert.equal(code, 0)
    assert.match(out, /^apiVersion: v1\nkind: Namespace\n/)
    assert.match(err, /^# Warning: 'commonLabels' is deprecated\. Please use 'labels' instead\./)
  } finally {
    remove()
  }
})

test('an output directory gets one file per object, an output file all of them', () => {
  const { dir, remove } = scratch(FILES)
  try {
    mkdirSync(join(dir, 'out'))
    assert.equal(run(dir, { output: join(dir, 'out') }).out, '')
    assert.deepEqual(readdirSync(join(dir, 'out')).sort(), [
      'default_v1_configmap_a.yaml',
      'ns_v1_configmap_a.yaml',
      'v1_namespace_ns.yaml',
    ])
    run(dir, { output: join(dir, 'all.yaml') })
    assert.equal(readFileSync(join(dir, 'all.yaml'), 'utf8'), run(dir).out)
  } finally {
    remove()
  }
})

test('F21, CVE-2025-53547, CVE-2026-35206: a name with a slash writes no file outside the output directory', () => {
  const { dir, remove } = scratch({
    'kustomization.yaml': 'resources: [a.yaml]\n',
    'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "/../../../escaped"}\n',
  })
  try {
    mkdirSync(join(dir, 'out', 'a', 'b'), { recursive: true })
    const { code, err } = run(dir, { output: join(dir, 'out', 'a', 'b') })
    assert.equal(code, 1)
    assert.match(err, /ConfigMap "\/\.\.\/\.\.\/\.\.\/escaped": the name cannot be part of a file name/)
    assert.deepEqual(
      new Set(readdirSync(join(dir, 'out'), { recursive: true, encoding: 'utf8' })),
      new Set(['a', 'a/b']),
    )
  } finally {
    remove()
  }
})

test('what cannot be built is an error with exit code 1', () => {
  const { dir, remove } = scratch({ 'kustomization.yaml': 'resource: []\n' })
  try {
    assert.deepEqual(run(dir), {
      code: 1,
      out: '',
      err: 'error: invalid Kustomization: json: unknown field "resource"\n',
    })
  } finally {
    remove()
  }
})

test('programs, containers, remote directories and unknown flag values are refused', () => {
  const refusals: [string, KustomizeFlags, RegExp][] = [
    ['.', { enableAlphaPlugins: true }, /programs or containers are not supported/],
    ['.', { network: true }, /functions in containers/],
    ['https://github.com/org/repo//dir', {}, /is a remote address: clone the repository/],
    ['.', { loadRestrictor: 'x' }, /illegal flag value --load-restrictor x/],
    ['.', { reorder: 'x' }, /illegal flag value --reorder x/],
  ]
  for (const [dir, flags, words] of refusals) {
    const { code, err } = run(dir, flags)
    assert.equal(code, 1)
    assert.match(err, words)
  }
})
