/** The entry of the CLI: parses the command line and loads only the code of the command. */
import { enableCompileCache } from 'node:module'
import { readEnvironment } from './config.ts'

const environment = readEnvironment()
// Enabled before other modules are loaded. The cache is in a folder of this user.
enableCompileCache(environment.compileCache)
const { runProcess } = await import('./program/run-process.ts')
await runProcess(environment)
