import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { needBinary, pins } from './testenv.ts'

const minorOf = (text: string): string => /(\d+\.\d+)\.\d+/.exec(text)?.[1] ?? text

describe('the oracles', () => {
  for (const [name, args] of [
    ['kubectl', ['version', '--client']],
    ['helm', ['version', '--short']],
    ['helm3', ['version', '--short']],
  ] as const) {
    test(`${name} is of the pinned minor version`, () => {
      const said = execFileSync(needBinary(name), args, { encoding: 'utf8' })
      assert.equal(minorOf(said), minorOf(pins.npm[name]!.version))
    })
  }

  test('only a binary of the pinned minor version is taken from KUBEBUILDER_ASSETS', (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'flotilla-assets-'))
    t.after(() => rmSync(dir, { recursive: true }))
    const find = (version: string): string => {
      writeFileSync(join(dir, 'kwok'), `#!/bin/sh\necho kwok version ${version}\n`)
      chmodSync(join(dir, 'kwok'), 0o755)
      const script = `import { findBinary } from ${JSON.stringify(join(import.meta.dirname, 'testenv.ts'))}
        process.stdout.write(String(findBinary('kwok')))`
      const env = { PATH: '/bin:/usr/bin', FLOTILLA_CACHE: join(dir, 'empty'), KUBEBUILDER_ASSETS: dir }
      return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', env })
    }
    assert.equal(find(pins.go['kwok']!.version), join(dir, 'kwok'))
    assert.equal(find('v0.1.0'), 'undefined')
  })
})
