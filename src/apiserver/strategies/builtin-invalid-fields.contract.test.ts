import { openBareEmbeddedHome } from '../../testing/api-contract-home.ts'
import { SPOILED_CASES } from '../../testing/api-contract-spoiled.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('spoiled built-in kinds, on our server', openBareEmbeddedHome, {}, SPOILED_CASES)
