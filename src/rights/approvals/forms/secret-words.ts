import { plainForm } from "../../../lib/text/plain-form.ts";

/** Words that stand for secrets wherever they are, also with blanks or dots within, in the languages that we know of. */
const anywhere = [
  // English
  "password passwd passphrase passcode credential apikey privatekey accesskey secretkey signingkey seedphrase",
  "seedword mnemonic recoveryphrase recoverykey recoverycode recoveryword walletword wordsofyourwallet",
  "wordsofthewallet onetimecode verificationcode confirmationcode securitycode accesscode logincode smscode",
  "backupcode codefromyourphone codefromthephone codewesent codeyoureceived codewetexted codefromyourapp",
  "sixdigit 6digit fourdigit 4digit authenticator cardnumber creditcard debitcard socialsecurity sortcode",
  "accountnumber secretquestion securityquestion maidenname bearertoken accesstoken sessioncookie",
  // German, Dutch, Scandinavian
  "kennwort passwort geheimzahl geheimnis geheimwort losungswort zugangsdaten zugangscode anmeldedaten",
  "kartennummer kreditkarte sicherheitscode bestätigungscode einmalcode wiederherstellung prüfziffer wachtwoord",
  "pincode toegangscode lösenord adgangskode passord salasana",
  // Romance languages
  "motdepasse motsecret codesecret phrasesecrète codedevérification codedesécurité numérodecarte cléprivée",
  "identifiants contraseña clavesecreta clavedeacceso palabraclave códigodeverificación códigodeseguridad",
  "númerodetarjeta frasesemilla senha palavrapasse palavrachave códigodesegurança númerodocartão parolachiave",
  "parolad'ordine codicedisicurezza codicediverifica numerodicarta parolasegreta",
  // Slavic languages, Greek, Turkish, Hungarian
  "пароль парольная секретноеслово секретныйкод кодизсмс кодподтверждения номеркарты hasło heslo zaporka",
  "lozinka κωδικός κωδικοσ şifre parolanız jelszó",
  // Semitic and Asian languages
  "كلمةالمرور كلمةالسر الرقمالسري סיסמה סיסמא קודסודי गुप्तशब्द पासवर्ड รหัสผ่าน mậtkhẩu katasandi 密码 密碼 口令 验证码",
  "驗證碼 助记词 助記詞 パスワード 暗証番号 認証コード 合言葉 비밀번호 암호 인증번호",
].flatMap((line) => line.split(" ").map(folded));

/** Short ones, and those that longer words contain: as words alone. */
const shortWords = "pass|pw|pwd|pin|puk|tan|otp|totp|2fa|mfa|cvv2?|cvc2?|ssn|iban|token|secrets?|clave|geheim|key|keys";
const alone = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${shortWords})(?![\p{L}\p{N}])`, "iu");

/** Digits and signs that stand for letters: `p4ssw0rd`. */
const signs: Readonly<Record<string, string>> = { "0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "@": "a", $: "s" };

/**
 * True for text that asks for what only a person may know, such as passwords, codes, keys and cards. It knows words of
 * some languages; so nothing may depend on it alone.
 */
export function asksSecret(text: string): boolean {
  const plain = plainForm(text);
  const words = plain.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, " ");
  if (alone.test(words)) return true;
  const letters = [folded(plain), folded(plain.replaceAll(/[01345@$]/g, (sign) => signs[sign] ?? sign))];
  return anywhere.some((word) => letters.some((all) => all.includes(word)));
}

/** Only its letters and digits, small and without accents. */
function folded(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
