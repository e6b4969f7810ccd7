/** The units of systemd: systemd reads them without a complaint, and rates what they allow. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readHubConfig } from '../../src/hub/config.ts'

const FOLDER = join(import.meta.dirname, '../../packaging/systemd')
const PAGE = join(import.meta.dirname, '../../docs/how-to/install-on-one-machine.md')
const PROGRAM = '/usr/local/bin/flotilla'
/** docs/how-to/install-on-one-machine.md says so. */
const MOST_EXPOSURE = 1.5

const UNITS = readdirSync(FOLDER)
const textOf = (unit: string): string => readFileSync(join(FOLDER, unit), 'utf8')

function analyze(...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  assert.equal(error, undefined, 'systemd-analyze is in the Debian package systemd')
  return { status, stdout, stderr }
}

describe('the units of systemd', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'flotilla-units-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))

  /** A copy whose program exists on this machine. */
  function copyOf(unit: string, change: (text: string) => string = (text) => text): string {
    const file = join(scratch, unit)
    writeFileSync(file, change(textOf(unit).replace(PROGRAM, process.execPath)))
    return file
  }

  test('are those of hub and agent', () => assert.deepEqual(UNITS, ['flotilla-agent.service', 'flotilla-hub.service']))

  for (const unit of UNITS) {
    test(`${unit} is valid`, () => {
      const { status, stderr } = analyze('verify', '--man=no', copyOf(unit))
      assert.deepEqual([status, stderr], [0, ''])
      const wrong = analyze(
        'verify',
        '--man=no',
        copyOf(unit, (text) => text.replace('UMask=', 'UMusk=')),
      )
      assert.match(wrong.stderr, /UMusk/)
    })

    test(`${unit} is exposed as little as the page says`, () => {
      const rating = (file: string): number => {
        const { stdout } = analyze('security', '--offline=true', '--no-pager', file)
        const [, text] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
        assert.ok(text, stdout)
        return Number(text)
      }
      assert.ok(rating(copyOf(unit)) <= MOST_EXPOSURE)
      assert.ok(rating(copyOf(unit, (text) => text.replace(/^SystemCallFilter=.*$/gm, ''))) > MOST_EXPOSURE)
    })

    test(`the flags of ${unit} exist`, () => {
      const [, line] = /^ExecStart=\/usr\/local\/bin\/flotilla (.+)$/m.exec(textOf(unit)) ?? []
      const [noun, verb, ...flags] = line!.split(' ')
      const { stdout } = spawnSync(process.execPath, ['bin/flotilla', noun!, verb!, '--help'], {
        cwd: join(FOLDER, '../..'),
        encoding: 'utf8',
      })
      for (const flag of flags.filter((word) => word.startsWith('--'))) assert.match(stdout, new RegExp(`${flag} `))
    })
  }

  test('the settings of the page are settings of the hub', () => {
    const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!)
    assert.ok(blocks.length > 0)
    for (const text of blocks) {
      const { config } = readHubConfig({
        flags: { data: '/var/lib/flotilla' },
        env: {},
        file: { path: 'hub.yaml', text },
      })
      assert.equal(config.gatewayUrl, 'https://hub.example.com:7444')
    }
  })
})
