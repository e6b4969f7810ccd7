/** The fixtures against the real binary. `FLOTILLA_WRITE_FIXTURES=1` takes its output as the expected one. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findBinary } from '../../testing/testenv.ts'
import { FIXTURE_FILES, readFixtures, writeExpected } from '../../testing/kustomize/fixtures.ts'
import type { Fixture } from '../../testing/kustomize/fixtures.ts'

const kubectl = findBinary('kubectl')
const skip = kubectl === undefined ? 'kubectl is not on this machine: run `npm run testenv`' : false

// Memory addresses and network answers are never twice the same.
const CHANGING = new Set(['remote-base', 'generator-unknown-merge'])

async function build(root: string, { name, files }: Fixture): Promise<string> {
  const directory = join(root, name)
  for (const [path, content] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  try {
    return (await promisify(execFile)(kubectl!, ['kustomize', directory], { timeout: 60_000 })).stdout
  } catch (caught) {
    const { stderr } = caught as { stderr: string }
    const error = stderr.slice(stderr.indexOf('error: ')).trimEnd()
    return `${error.replaceAll(directory, '/DIR')}\n`
  }
}

for (const file of FIXTURE_FILES) {
  test(`the expected output of ${file} is what kubectl kustomize prints`, { skip }, async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'kustomize-')))
    try {
      const outcomes = new Map<string, string>()
      const queue = readFixtures(file)
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next; next = queue.shift()) outcomes.set(next.name, await build(root, next))
      }
      await Promise.all([work(), work(), work()])
      if (process.env['FLOTILLA_WRITE_FIXTURES'] === '1') writeExpected(file, outcomes)
      for (const { name, expected } of readFixtures(file)) {
        if (!CHANGING.has(name)) assert.equal(expected, outcomes.get(name), name)
      }
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
}
