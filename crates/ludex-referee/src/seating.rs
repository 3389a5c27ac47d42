//! Which player takes which role in each match.

/// The players of a series and the roles they take in turn.
///
/// With as many names as roles, seats rotate: in each match everybody moves on by one. With two
/// names and more roles, the first takes one seat and the second all others, then the reverse with
/// the same seat, then both with the next seat. Either way a [`round`](Self::round) is the number
/// of matches after which everybody has sat everywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seating {
    n_players: usize,
    n_roles: usize,
}

/// Why players cannot be seated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SeatingError {
    /// The only role is `random`.
    #[error("nobody can play: the only role of the game is `random`")]
    NoRole,
    /// The number of players is neither the number of roles nor two.
    #[error("{} for {}; give {}", count(*.n_players, "player"), count(*.n_roles, "role"), wanted(*.n_roles))]
    WrongNumber {
        /// Names given.
        n_players: usize,
        /// Roles besides `random`.
        n_roles: usize,
    },
}

/// Writes a number with its noun.
fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("one {noun}") } else { format!("{n} {noun}s") }
}

fn wanted(n_roles: usize) -> String {
    match n_roles {
        1 => "one name".into(),
        2 => "two names".into(),
        n => format!("{n} names, or two: one against all others"),
    }
}

impl Seating {
    /// Seats players in roles; `n_roles` does not count `random`.
    ///
    /// # Errors
    /// When the numbers do not fit together.
    pub fn new(n_players: usize, n_roles: usize) -> Result<Self, SeatingError> {
        if n_roles == 0 {
            Err(SeatingError::NoRole)
        } else if n_players == n_roles || (n_players == 2 && n_roles > 2) {
            Ok(Self { n_players, n_roles })
        } else {
            Err(SeatingError::WrongNumber { n_players, n_roles })
        }
    }

    /// Returns the player of each role, as an index into the list of names, in match `number`.
    pub fn players(&self, number: usize) -> Vec<usize> {
        let (n_players, n_roles) = (self.n_players, self.n_roles);
        if n_players == n_roles {
            return (0..n_roles).map(|role| (role + number) % n_players).collect();
        }
        let (alone, other) = if number.is_multiple_of(2) { (0, 1) } else { (1, 0) };
        let seat = number / 2 % n_roles;
        (0..n_roles).map(|role| if role == seat { alone } else { other }).collect()
    }

    /// Number of matches after which everybody has sat everywhere.
    pub fn round(&self) -> usize {
        if self.n_players == self.n_roles { self.n_players } else { 2 * self.n_roles }
    }

    /// Number of matches after which two players have exchanged their seats once; `None` for other
    /// numbers of players.
    ///
    /// A test that compares two players looks only at whole exchanges.
    pub fn exchange(&self) -> Option<usize> {
        (self.n_players == 2).then_some(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(n_players: usize, n_roles: usize) -> Vec<Vec<usize>> {
        let seating = Seating::new(n_players, n_roles).expect("they fit");
        (0..seating.round()).map(|number| seating.players(number)).collect()
    }

    #[test]
    fn as_many_names_as_roles_move_on_by_one() {
        assert_eq!(seats(1, 1), [[0]]);
        assert_eq!(seats(2, 2), [[0, 1], [1, 0]]);
        assert_eq!(seats(3, 3), [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    }

    #[test]
    fn two_names_are_one_against_the_rest_and_the_reverse() {
        assert_eq!(seats(2, 3), [[0, 1, 1], [1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]]);
    }

    #[test]
    fn in_a_round_everybody_sits_everywhere_as_often() {
        for (n_players, n_roles) in [(2, 2), (3, 3), (2, 3), (2, 4), (6, 6)] {
            let seats = seats(n_players, n_roles);
            for role in 0..n_roles {
                for player in 0..n_players {
                    let n_times = seats.iter().filter(|match_| match_[role] == player).count();
                    assert_eq!(n_times, seats.len() / n_players, "{n_players} {n_roles}");
                }
            }
        }
    }

    #[test]
    fn wrong_numbers_are_refused_with_a_remedy() {
        let said = |n_players, n_roles| {
            Seating::new(n_players, n_roles).expect_err("they do not fit").to_string()
        };
        assert_eq!(said(2, 1), "2 players for one role; give one name");
        assert_eq!(said(3, 2), "3 players for 2 roles; give two names");
        assert_eq!(
            said(3, 4),
            "3 players for 4 roles; give 4 names, or two: one against all others"
        );
    }
}
